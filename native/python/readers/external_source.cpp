// ExternalSource: Python objects that are read by index as a Source, and the origins of samples from Python code.
#include <nanobind/stl/string.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <thread>

#include "python/feed.h"
#include "python/readers/readers.h"
#include "runtime/fork.h"

namespace avida::python {
namespace {

Origins numbered(const std::string& name, int n, int64_t first, int64_t epoch) {
  std::vector<Origin> origins(n);
  for (int i = 0; i < n; i++) {
    origins[i].source = str(name, '[', first + i, ']');
    origins[i].index = first + i;
    origins[i].epoch = epoch;
  }
  return std::make_shared<const std::vector<Origin>>(std::move(origins));
}

// The outputs of one item, as values whose samples are numbered from `first`. Samples of another reader keep their
// origin.
nb::object identify(nb::list outputs, const std::string& name, int64_t first, int64_t epoch) {
  std::vector<ValuePtr> values, made;
  Origins origins;
  for (nb::handle output : outputs) {
    const ValuePtr& value = *value_of(output);
    values.push_back(value);
    if (value->lineage) continue;
    Data data = get(*value);
    if (!origins || static_cast<int>(origins->size()) != data.size())
      origins = numbered(name, data.size(), first, epoch);
    data.origins = origins;
    values.back() = std::make_shared<Value>(std::move(data), value->meta().is_batch);
    made.push_back(values.back());
  }
  begin_lineage(made);
  nb::list out;
  for (auto& value : values) out.append(wrap(std::move(value)));
  return nb::tuple(out);
}

// Threads that call a user's object, one at a time and in the order in which they came: also the thread of an epoch
// that was left, which may still be inside when the next epoch begins.
class Turns : ForkAware {
 public:
  // With the GIL, which is released for a wait.
  void take(const std::atomic<bool>* stop) {
    std::unique_lock lock(mutex_);
    const auto me = std::this_thread::get_id();
    if (!line_.empty() && line_.front() == me) {
      again_++;
      return;
    }
    line_.push_back(me);
    if (line_.front() == me) return;
    lock.unlock();
    wait(me, stop);
  }
  void give_back() {
    std::lock_guard lock(mutex_);
    if (again_ > 0) {
      again_--;
      return;
    }
    line_.pop_front();
    next_.notify_all();
  }

 private:
  void wait(std::thread::id me, const std::atomic<bool>* stop) {
    WithoutGil released;
    std::unique_lock lock(mutex_);
    while (line_.front() != me) {
      if (next_.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::no_timeout) continue;
      lock.unlock();
      try {
        if (stop && *stop) throw Stopped();
        answer_signals()();
      } catch (...) {
        lock.lock();
        std::erase(line_, me);
        next_.notify_all();
        throw;
      }
      lock.lock();
    }
  }

  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool in_child) override {
    if (in_child) {
      new (&next_) std::condition_variable;
      const bool is_inside = !line_.empty() && line_.front() == std::this_thread::get_id();
      line_.resize(is_inside ? 1 : 0);
      if (!is_inside) again_ = 0;
    }
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::condition_variable next_;
  std::deque<std::thread::id> line_;  // the first one is inside
  int again_ = 0;                     // how often it came in again, from the user's code
  ForkRegistration fork_{this, Rank::reader};
};

// Samples of a Python object with __len__, read(index, epoch) and join(samples): see _Samples in indexed.py. An
// exception belongs to its batch, which raises the same one.
class PythonSource : public Source {
 public:
  explicit PythonSource(nb::object samples) : samples_(hold(std::move(samples))) {}

  PyObject* object() const { return static_cast<PyObject*>(samples_.get()); }

  const char* name() const override { return "ExternalSource"; }
  int64_t size() const override {
    WithGil acquired;
    const Py_ssize_t size = PyObject_Size(object());
    if (size < 0) throw nb::python_error();
    return size;
  }
  const std::vector<Meta>& outputs() const override { return unknown_; }
  std::string describe(int64_t index) const override { return str(name(), '[', index, ']'); }
  std::unique_ptr<Sample> open(int64_t, const storage::Fetched&) const override {
    refuse(name(), ": samples are read in batches");
  }
  int most_threads() const override { return 1; }

  void start_thread(std::function<void()> work) const override {
    WithGil acquired;
    start_python_thread([work = std::move(work)] {
      WithoutGil released;
      work();
    });
  }

  std::optional<std::vector<ValuePtr>> read_batch(const Request& request) const override {
    WithGil acquired;
    try {
      return read(request);
    } catch (nb::python_error& error) {
      if (!request.stop || (!request.ahead && !is_fault_of_item(error))) throw;
      throw FailureError(std::make_shared<const Failure>(
          Failure{ErrorKind::runtime, text_of(object(), error), hold(exception_of(error))}));
    }
  }

 private:
  std::vector<ValuePtr> read(const Request& request) const {
    const nb::object samples = nb::borrow(object());
    const nb::object read = samples.attr("read");
    nb::list outputs;
    for (const SampleId& id : request.ids) {
      try {
        outputs.append(read_sample(read, id, request.stop));
      } catch (nb::python_error& error) {
        if (!request.skipped || !is_fault_of_item(error)) throw;
        request.skipped->push_back({describe(id.index), id, text_of(samples, error)});
      }
    }
    std::vector<ValuePtr> values;
    if (nb::len(outputs) == 0) return values;
    nb::object joined = request.batches ? call_python(samples.attr("join"), {outputs.ptr()}) : nb::object(outputs[0]);
    for (nb::handle output : nb::borrow<nb::sequence>(joined)) values.push_back(*value_of(output));
    return values;
  }

  nb::object read_sample(const nb::object& read, const SampleId& id, const std::atomic<bool>* stop) const {
    turns_.take(stop);
    struct Turn {
      Turns& turns;
      ~Turn() { turns.give_back(); }
    } turn{turns_};
    if (stop && *stop) throw Stopped();
    return call_python(read, {nb::int_(id.index).ptr(), nb::int_(id.pass).ptr()});
  }

  static std::string text_of(nb::handle samples, const nb::python_error& error) {
    return nb::cast<std::string>(call_python(samples.attr("text_of"), {error.value().ptr()}));
  }

  std::shared_ptr<void> samples_;
  mutable Turns turns_;
  const std::vector<Meta> unknown_{Meta::unknown(true, 1)};
};

// Shows the garbage collector the user's object, which may refer to its reader.
struct PythonSourceHandle : SourceHandle {
  explicit PythonSourceHandle(nb::object samples) : SourceHandle{std::make_shared<PythonSource>(std::move(samples))} {}

  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self))
      Py_VISIT(static_cast<const PythonSource&>(*nb::inst_ptr<PythonSourceHandle>(self)->source).object());
    return 0;
  }
};

PyType_Slot collected_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(PythonSourceHandle::traverse)},
    {0, nullptr},
};

const BindFormat external_source([](nb::module_& m) {
  nb::class_<PythonSourceHandle, SourceHandle>(m, "PythonSource", nb::type_slots(collected_slots))
      .def(nb::init<nb::object>(), nb::arg("samples"));
  m.def("identify", &identify, nb::arg("outputs"), nb::arg("name"), nb::arg("first"), nb::arg("epoch"));
});

}  // namespace
}  // namespace avida::python
