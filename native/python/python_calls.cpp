// Operators written in Python: the only tasks that take the GIL.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include "ahead/loop.h"
#include "gpu/streams.h"
#include "operator/gpu_call.h"
#include "python/python.h"

namespace avida::python {
namespace {

class PythonCall : public Task {
 public:
  PythonCall(nb::object function, std::string name, size_t arguments, std::shared_ptr<GpuStream> stream, Location where)
      : function_(hold(std::move(function))),
        name_(std::move(name)),
        arguments_(arguments),
        stream_(std::move(stream)),
        where_(where) {}

 protected:
  std::vector<Data> run() override {
    WithGil acquired;
    // Operators that the function calls run on this thread, which belongs to the executor.
    struct SyncMode {
      Ambient before = Ambient::here();
      SyncMode() { Ambient::here().mode = EvalMode::sync_cpu; }
      ~SyncMode() { Ambient::here() = before; }
    } sync;
    nb::list arguments;
    for (size_t i = 0; i < arguments_; i++) arguments.append(wrap(inputs[i]));
    nb::object results = call_python(static_cast<PyObject*>(function_.get()), {arguments.ptr()});
    std::vector<Data> out;
    for (nb::handle result : nb::borrow<nb::sequence>(results)) {
      const Data& data = get(**value_of(result));
      out.push_back(stream_ ? to_gpu(data, *stream_) : to_cpu(data));
      for (size_t i = 0; i < arguments_ && !out.back().origins; i++)
        if (inputs[i]->ready().size() == out.back().size()) out.back().origins = inputs[i]->ready().origins;
    }
    return out;
  }
  bool pure() const override { return false; }
  profile::Label label() const override {
    return {profile::intern(name_), where_, inputs.empty() ? 1 : inputs[0]->meta().samples, {}};
  }

  Failure describe_failure(std::exception_ptr pointer) const override {
    std::string note = str("avida operator \"", name_, '"');
    if (where_.file) note += str(", called at ", where_.file, ":", where_.line);
    try {
      std::rethrow_exception(pointer);
    } catch (nb::python_error& error) {
      WithGil acquired;
      nb::object exception = nb::borrow(error.value());
      if (error.traceback().is_valid()) PyException_SetTraceback(exception.ptr(), error.traceback().ptr());
      try {
        exception.attr("add_note")(note);
      } catch (nb::python_error&) {  // an exception without add_note gets no note
      }
      return {ErrorKind::runtime, note, hold(std::move(exception))};
    } catch (...) {
      Failure failure = describe(std::current_exception());
      failure.message = name_ + ": " + failure.message + " (" + note + ")";
      return failure;
    }
  }

 private:
  std::shared_ptr<void> function_;
  std::string name_;
  size_t arguments_;                   // the number of inputs that are arguments; the others are only waited for
  std::shared_ptr<GpuStream> stream_;  // of the GPU for the results; null for the CPU
  Location where_;
};

// Like any call, it runs on the device of its inputs.
std::shared_ptr<GpuStream> stream_for(const nb::list& inputs) {
  for (nb::handle input : inputs)
    if (Device device = (*value_of(input))->meta().device; device.kind == Device::Kind::gpu)
      return stream_of(*Ambient::here().current(), device.id);
  return nullptr;
}

// Calls function([Tensor | Batch, ...]) -> sequence of Tensors or Batches, in order with the other operators.
// Also waits for `after`, values which the function reads without receiving them as arguments.
nb::object python_call(nb::object function, const std::string& name, nb::list inputs, nb::list after, int outputs,
                       int samples) {
  profile::Span calling;
  if (profile::on()) calling.begin(call_at_user_line(name));
  collect_garbage();
  auto stream = stream_for(inputs);
  auto task = std::make_shared<PythonCall>(std::move(function), name, inputs.size(), stream, user_location());
  for (nb::handle input : inputs) task->inputs.push_back(*value_of(input));
  for (nb::handle value : after) task->inputs.push_back(*value_of(value));
  if (profile::on() && Loop::here())
    profile::note_ahead(user_location(), name, profile::Ahead::not_predicted,
                        "functions made by @avida.operator may have side effects");
  std::vector<ValuePtr> promises;
  Meta meta = Meta::unknown(samples >= 0, samples < 0 ? 1 : samples);
  if (stream) meta.device = {Device::Kind::gpu, static_cast<int16_t>(stream->device)};
  LineagePtr lineage = inherit({task->inputs.data(), inputs.size()}, meta.samples);
  for (int i = 0; i < outputs; i++) {
    promises.push_back(task->promise(meta));
    promises.back()->lineage = lineage;
  }
  launch(task);
  EvalMode mode = Ambient::here().mode;
  if (mode == EvalMode::sync_cpu || mode == EvalMode::sync_full) promises[0]->ready();
  nb::list out;
  for (auto& promise : promises) out.append(wrap(promise));
  return out;
}

}  // namespace

nb::object call_python(nb::handle function, std::initializer_list<PyObject*> arguments) {
  PyObject* result;
  try {
    result = PyObject_Vectorcall(function.ptr(), arguments.begin(), arguments.size(), nullptr);
  } catch (...) {  // Python terminates the thread; nothing else is thrown through C code
    while (true) pause();
  }
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

void bind_python_calls(nb::module_& m) {
  m.def("python_call", &python_call, nb::arg("function"), nb::arg("name"), nb::arg("inputs"), nb::arg("after"),
        nb::arg("outputs"), nb::arg("samples"));
}

}  // namespace avida::python
