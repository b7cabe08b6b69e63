// Operators written in Python: the only tasks that take the GIL.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cuda/streams.h"
#include "op/gpu_call.h"
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
    nb::gil_scoped_acquire acquire;
    // Operators that the function calls run on this thread: it is the executor's own.
    struct SyncMode {
      Ambient before = Ambient::here();
      SyncMode() { Ambient::here().mode = EvalMode::sync_cpu; }
      ~SyncMode() { Ambient::here() = before; }
    } sync;
    nb::list arguments;
    for (size_t i = 0; i < arguments_; i++) arguments.append(wrap(inputs[i]));
    nb::object results = nb::borrow(static_cast<PyObject*>(function_.get()))(arguments);
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

  Failure describe_failure(std::exception_ptr pointer) const override {
    std::string note = str("avida operator \"", name_, '"');
    if (where_.file) note += str(", called at ", where_.file, ":", where_.line);
    try {
      std::rethrow_exception(pointer);
    } catch (nb::python_error& error) {
      nb::gil_scoped_acquire acquire;
      nb::object exception = nb::borrow(error.value());
      if (error.traceback().is_valid()) PyException_SetTraceback(exception.ptr(), error.traceback().ptr());
      try {
        exception.attr("add_note")(note);
      } catch (nb::python_error&) {  // an exception that takes no notes goes without
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
  size_t arguments_;                   // of the inputs; the rest is only waited for
  std::shared_ptr<GpuStream> stream_;  // of the GPU where the results are to be; null for the CPU
  Location where_;
};

// Like any call, it belongs where its inputs are.
std::shared_ptr<GpuStream> stream_for(const nb::list& inputs) {
  for (nb::handle input : inputs)
    if (Device device = (*value_of(input))->meta().device; device.kind == Device::Kind::gpu)
      return stream_of(*Ambient::here().current(), device.id);
  return nullptr;
}

// Calls function([Tensor | Batch, ...]) -> sequence of Tensors or Batches, in order with the other operators.
// It waits for `after` too, which the function reads by itself.
nb::object python_call(nb::object function, const std::string& name, nb::list inputs, nb::list after, int outputs,
                       int samples) {
  collect_garbage();
  auto stream = stream_for(inputs);
  auto task = std::make_shared<PythonCall>(std::move(function), name, inputs.size(), stream, user_location());
  for (nb::handle input : inputs) task->inputs.push_back(*value_of(input));
  for (nb::handle value : after) task->inputs.push_back(*value_of(value));
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

void bind_python_calls(nb::module_& m) {
  m.def("python_call", &python_call, nb::arg("function"), nb::arg("name"), nb::arg("inputs"), nb::arg("after"),
        nb::arg("outputs"), nb::arg("samples"));
}

}  // namespace avida::python
