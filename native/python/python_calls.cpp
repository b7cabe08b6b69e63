// Operators written in Python: the only tasks that take the GIL.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/python.h"

namespace avida::python {
namespace {

class PythonCall : public Task {
 public:
  PythonCall(nb::object function, std::string name, Location where)
      : function_(hold(std::move(function))), name_(std::move(name)), where_(where) {}

 protected:
  std::vector<Data> run() override {
    nb::gil_scoped_acquire acquire;
    // Operators that the function calls run on this thread: it is the executor's own.
    struct SyncMode {
      EvalMode before = std::exchange(Ambient::here().mode, EvalMode::sync_cpu);
      ~SyncMode() { Ambient::here().mode = before; }
    } sync;
    nb::list arguments;
    for (auto& input : inputs) arguments.append(wrap(input));
    nb::object results = nb::borrow(static_cast<PyObject*>(function_.get()))(arguments);
    std::vector<Data> out;
    for (nb::handle result : nb::borrow<nb::sequence>(results)) out.push_back((*value_of(result))->get());
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
      exception.attr("__traceback__") = error.traceback();
      exception.attr("add_note")(note);
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
  Location where_;
};

// Calls function([Tensor | Batch, ...]) -> sequence of Tensors or Batches, in order with the other operators.
nb::object python_call(nb::object function, const std::string& name, nb::list inputs, int outputs, int samples) {
  auto task = std::make_shared<PythonCall>(std::move(function), name, user_location());
  for (nb::handle input : inputs) task->inputs.push_back(*value_of(input));
  std::vector<ValuePtr> promises;
  Meta meta = Meta::unknown(samples >= 0, samples < 0 ? 1 : samples);
  for (int i = 0; i < outputs; i++) promises.push_back(task->promise(meta));
  launch(task);
  EvalMode mode = Ambient::here().mode;
  if (mode == EvalMode::sync_cpu || mode == EvalMode::sync_full) promises[0]->ready();
  nb::list out;
  for (auto& promise : promises) out.append(wrap(promise));
  return out;
}

}  // namespace

void bind_python_calls(nb::module_& m) {
  m.def("python_call", &python_call, nb::arg("function"), nb::arg("name"), nb::arg("inputs"), nb::arg("outputs"),
        nb::arg("samples"));
}

}  // namespace avida::python
