// ExternalSource: Python objects that are read by index as a Source, and the origins of samples from Python code.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "python/feed.h"
#include "python/readers/readers.h"
#include "python/readers/team.h"
#include "runtime/fork.h"

namespace avida::python {
namespace {

Origins numbered(const std::string& name, int n, int64_t first, int64_t epoch, const std::optional<std::string>& own) {
  std::vector<Origin> origins(n);
  for (int i = 0; i < n; i++) {
    origins[i].source = own ? *own : str(name, '[', first + i, ']');
    origins[i].index = first + i;
    origins[i].epoch = epoch;
  }
  return std::make_shared<const std::vector<Origin>>(std::move(origins));
}

// The outputs of one item, as values whose samples are numbered from `first`. Samples of another reader keep their
// origin. `own` is the name that the user gives the item.
nb::object identify(nb::list outputs, const std::string& name, int64_t first, int64_t epoch,
                    const std::optional<std::string>& own) {
  std::vector<ValuePtr> values, made;
  Origins origins;
  for (nb::handle output : outputs) {
    const ValuePtr& value = *value_of(output);
    values.push_back(value);
    if (value->lineage) continue;
    Data data = get(*value);
    if (!origins || static_cast<int>(origins->size()) != data.size())
      origins = numbered(name, data.size(), first, epoch, own);
    data.origins = origins;
    values.back() = std::make_shared<Value>(std::move(data), value->meta().is_batch);
    made.push_back(values.back());
  }
  begin_lineage(made);
  nb::list out;
  for (auto& value : values) out.append(wrap(std::move(value)));
  return nb::tuple(out);
}

// The same values, whose samples are known as rows of a table that a reader may have read elsewhere.
nb::object known_as(nb::list batches, std::vector<std::string> names, const std::vector<int64_t>& indices,
                    const std::vector<int64_t>& epochs) {
  auto origins = std::make_shared<std::vector<Origin>>();
  for (size_t i = 0; i < names.size(); i++) origins->push_back({std::move(names[i]), indices.at(i), epochs.at(i), {}});
  std::vector<ValuePtr> values;
  for (nb::handle batch : batches) {
    Data data = get(**value_of(batch));
    if (data.size() != std::ssize(*origins)) value_error("expected ", origins->size(), " samples, got ", data.size());
    data.origins = origins;
    values.push_back(std::make_shared<Value>(std::move(data), true));
  }
  begin_lineage(values);
  nb::list out;
  for (auto& value : values) out.append(wrap(std::move(value)));
  return out;
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

// The helpers of a prefetching thread.
thread_local Team* team_here = nullptr;

// Samples of a Python object with __len__, read(index, epoch), read_many(indices, epochs) and join(samples): see
// _Samples in indexed.py. An exception belongs to its batch, which raises the same one. With `threads` more than one,
// as many read at the same time, else one at a time, whoever asks. With `many`, samples are asked for together.
class PythonSource : public Source {
 public:
  PythonSource(nb::object samples, int threads, bool many)
      : samples_(hold(std::move(samples))), threads_(threads), many_(many) {}

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
    start_python_thread([work = std::move(work), helpers = threads_ - 1] {
      Team team(helpers);
      team_here = &team;
      WithoutGil released;
      work();
    });
  }

  bool makes_batches() const override { return true; }
  std::optional<std::vector<ValuePtr>> read_batch(const Request& request) const override {
    WithGil acquired;
    try {
      return read(request);
    } catch (nb::python_error& error) {
      if (!request.stop || (!request.prefetching && !is_fault_of_item(error))) throw;
      throw FailureError(std::make_shared<const Failure>(
          Failure{ErrorKind::runtime, text_of(object(), error), hold(exception_of(error))}));
    }
  }

 private:
  std::vector<ValuePtr> read(const Request& request) const {
    const nb::object samples = nb::borrow(object());
    const std::vector<SampleId> ids(request.ids.begin(), request.ids.end());
    nb::list outputs;
    if (!read_together(ids, request, outputs)) {
      outputs.clear();
      for (const SampleId& id : ids) add_sample(id, request, outputs);
    }
    std::vector<ValuePtr> values;
    if (nb::len(outputs) == 0) return values;
    nb::object joined = request.batches ? call_python(samples.attr("join"), {outputs.ptr()}) : nb::object(outputs[0]);
    for (nb::handle output : nb::borrow<nb::sequence>(joined)) values.push_back(*value_of(output));
    return values;
  }

  // Adds a sample, or notes why it is left out.
  void add_sample(const SampleId& id, const Request& request, nb::list& outputs) const {
    try {
      outputs.append(in_turn(request.stop, [&] { return read_sample(object(), id); }));
    } catch (nb::python_error& error) {
      if (!request.skipped || !is_fault_of_item(error)) throw;
      request.skipped->push_back({origin(id), text_of(object(), error)});
    }
  }

  // Adds samples that are asked for together or by several threads. Returns false if they have to be read one by one:
  // because they are few, or one of them fails and is to be left out.
  bool read_together(const std::vector<SampleId>& ids, const Request& request, nb::list& outputs) const {
    const size_t threads = std::min(static_cast<size_t>(threads_), ids.size());
    if (ids.size() < 2 || (threads == 1 && !many_)) return false;
    const size_t parts = many_ ? threads : ids.size();
    auto work = std::make_shared<Team::Work>(parts, reader_of_parts(ids, parts));
    if (threads == 1) {
      in_turn(request.stop, [&] {
        work->take_part();
        return nb::none();
      });
    } else if (team_here && team_here->helpers() + 1 >= threads_) {
      team_here->run(work, request.stop);
    } else {
      Team(static_cast<int>(threads) - 1).run(work, request.stop);
    }
    for (auto& error : work->errors)
      if (error && !is_fault(error)) std::rethrow_exception(error);  // interrupted
    for (size_t i = 0; i < parts; i++) {
      if (work->errors[i] && request.skipped) return false;
      if (work->errors[i]) std::rethrow_exception(work->errors[i]);
      outputs.extend(work->made[i]);
    }
    return true;
  }

  static bool is_fault(const std::exception_ptr& raised) {
    try {
      std::rethrow_exception(raised);
    } catch (nb::python_error& error) {
      return is_fault_of_item(error);
    } catch (...) {
      return false;
    }
  }

  // A function that reads one of so many parts, and refers to nothing that ends with the request.
  std::function<nb::object(size_t)> reader_of_parts(std::vector<SampleId> ids, size_t parts) const {
    return [ids = std::move(ids), parts, many = many_, samples = nb::borrow(object())](size_t part) -> nb::object {
      if (!many) {
        nb::list one;
        one.append(read_sample(samples, ids[part]));
        return one;
      }
      nb::list indices, epochs;
      for (size_t i = ids.size() * part / parts; i < ids.size() * (part + 1) / parts; i++) {
        indices.append(ids[i].index);
        epochs.append(ids[i].pass);
      }
      return call_python(samples.attr("read_many"), {indices.ptr(), epochs.ptr()});
    };
  }

  static nb::object read_sample(nb::handle samples, const SampleId& id) {
    return call_python(samples.attr("read"), {nb::int_(id.index).ptr(), nb::int_(id.pass).ptr()});
  }

  // One thread at a time, unless there are to be more.
  template <class Read>
  nb::object in_turn(const std::atomic<bool>* stop, Read read) const {
    if (threads_ > 1) {
      if (stop && *stop) throw Stopped();
      return read();
    }
    turns_.take(stop);
    struct Turn {
      Turns& turns;
      ~Turn() { turns.give_back(); }
    } turn{turns_};
    if (stop && *stop) throw Stopped();
    return read();
  }

  static std::string text_of(nb::handle samples, const nb::python_error& error) {
    return nb::cast<std::string>(call_python(samples.attr("text_of"), {error.value().ptr()}));
  }

  std::shared_ptr<void> samples_;
  const int threads_;
  const bool many_;
  mutable Turns turns_;
  const std::vector<Meta> unknown_{Meta::unknown(true, 1)};
};

// Shows the garbage collector the user's object, which may refer to its reader.
struct PythonSourceHandle : SourceHandle {
  PythonSourceHandle(nb::object samples, int threads, bool many)
      : SourceHandle{std::make_shared<PythonSource>(std::move(samples), threads, many)} {}

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
      .def(nb::init<nb::object, int, bool>(), nb::arg("samples"), nb::arg("threads") = 1, nb::arg("many") = false);
  m.def("identify", &identify, nb::arg("outputs"), nb::arg("name"), nb::arg("first"), nb::arg("epoch"),
        nb::arg("own").none() = nb::none());
  m.def("known_as", &known_as, nb::arg("batches"), nb::arg("names"), nb::arg("indices"), nb::arg("epochs"));
});

}  // namespace
}  // namespace avida::python
