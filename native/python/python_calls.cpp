// Operators written in Python: the only tasks that take the GIL.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "gpu/streams.h"
#include "operator/gpu_call.h"
#include "python/submit.h"
#include "runtime/memory.h"

namespace avida::python {
namespace {

// Whether two keys are equal: tuples of plain constants, and of objects that never change. Runs no code of users.
bool same_key(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyFloat_CheckExact(a))
    return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(a)) == std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(b));
  if (PyLong_CheckExact(a) || PyUnicode_CheckExact(a) || PyBytes_CheckExact(a))
    return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
  if (!PyTuple_CheckExact(a) || PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); i++)
    if (!same_key(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
  return true;
}

// function([Tensor | Batch, ...]) -> sequence of Tensors or Batches.
// Also waits for `after`, values which the function reads without receiving them.
class Function : public PythonFunction, public std::enable_shared_from_this<Function> {
 public:
  Function(nb::object function, std::string name, std::vector<ValuePtr> after, int outputs, bool pure, nb::object key,
           bool anywhere)
      : function(hold(std::move(function))),
        pure(pure),
        anywhere(anywhere && pure && !key.is_none()),
        name_(std::move(name)),
        after_(std::move(after)),
        outputs_(outputs) {
    if (!key.is_none()) key_ = hold(std::move(key));
  }

  std::string_view name() const override { return name_; }
  const char* why_not_ahead() const override {
    if (key_) return nullptr;  // the call of one iteration can be told from that of the next
    return pure ? "its keyword arguments are not plain constants"
                : "functions made by @avida.operator may have side effects, unless they are declared pure";
  }
  bool same(const PythonFunction& other) const override {
    const auto* function = dynamic_cast<const Function*>(&other);
    auto key = [](const Function& it) { return static_cast<PyObject*>(it.key_.get()); };
    return function && same_key(key(*this), key(*function));
  }
  std::shared_ptr<Task> call(std::span<const ValuePtr> inputs, int samples, const Context& context, Location where,
                             std::vector<ValuePtr>& promises) const override;

  const std::shared_ptr<void> function;
  const bool pure;
  const bool anywhere;  // a thread that waits for its results may run it: it reads its inputs and constants alone

 private:
  const std::string name_;
  const std::vector<ValuePtr> after_;
  const int outputs_;
  std::shared_ptr<void> key_;
};

class PythonCall : public Task {
 public:
  PythonCall(std::shared_ptr<const Function> function, size_t arguments, std::shared_ptr<GpuStream> stream,
             Location where)
      : function_(std::move(function)), arguments_(arguments), stream_(std::move(stream)), where_(where) {}

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
    nb::object results = call_python(static_cast<PyObject*>(function_->function.get()), {arguments.ptr()});
    std::vector<Data> out;
    for (nb::handle result : nb::borrow<nb::sequence>(results)) {
      const Data& data = get(**value_of(result));
      out.push_back(stream_ ? to_gpu(data, *stream_) : to_cpu(data));
      for (size_t i = 0; i < arguments_ && !out.back().origins; i++)
        if (inputs[i]->ready().size() == out.back().size()) out.back().origins = inputs[i]->ready().origins;
    }
    return out;
  }
  bool pure() const override { return function_->pure; }
  bool runs_anywhere() const override { return function_->anywhere && !stream_; }
  profile::Label label() const override {
    return {
        profile::intern(std::string(function_->name())), where_, inputs.empty() ? 1 : inputs[0]->meta().samples, {}};
  }

  Failure describe_failure(std::exception_ptr pointer) const override {
    std::string note = str("avida operator \"", function_->name(), '"');
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
      failure.message = str(function_->name(), ": ", failure.message);
      failure.note = failure.note.empty() ? note : str(failure.note, "; ", note);
      return failure;
    }
  }

 private:
  std::shared_ptr<const Function> function_;
  size_t arguments_;                   // the number of inputs that are arguments; the others are only waited for
  std::shared_ptr<GpuStream> stream_;  // of the GPU for the results; null for the CPU
  Location where_;
};

// Like any call, it runs on the device of its inputs.
std::shared_ptr<GpuStream> stream_for(std::span<const ValuePtr> inputs, const Context& context) {
  for (auto& input : inputs)
    if (Device device = input->meta().device; device.kind == Device::Kind::gpu) return stream_of(context, device.id);
  return nullptr;
}

std::shared_ptr<Task> Function::call(std::span<const ValuePtr> inputs, int samples, const Context& context,
                                     Location where, std::vector<ValuePtr>& promises) const {
  auto stream = stream_for(inputs, context);
  auto task = std::make_shared<PythonCall>(shared_from_this(), inputs.size(), stream, where);
  task->inputs.assign(inputs.begin(), inputs.end());
  task->inputs.insert(task->inputs.end(), after_.begin(), after_.end());
  Meta meta = Meta::unknown(samples >= 0, samples < 0 ? 1 : samples);
  if (stream) meta.device = {Device::Kind::gpu, static_cast<int16_t>(stream->device)};
  LineagePtr lineage = inherit(inputs, meta.samples);
  for (int i = 0; i < outputs_; i++) {
    promises.push_back(task->promise(meta));
    promises.back()->lineage = lineage;
  }
  return task;
}

// A value of the same shapes, on the CPU, without elements: for operators that look at shapes alone.
class OutlineTask : public Task {
 public:
  explicit OutlineTask(Location where) : where_(where) {}

 protected:
  std::vector<Data> run() override {
    const Data& data = inputs[0]->ready();
    Data outline;
    outline.dtype = data.dtype;
    outline.layout = data.layout;
    outline.shapes = data.shapes;
    outline.origins = data.origins;
    outline.read_only = true;
    Block block = allocate(1);
    void* first = block.get();
    outline.place(std::move(block), first, 0);
    return {std::move(outline)};
  }
  Failure describe_failure(std::exception_ptr error) const override { return describe(error); }
  profile::Label label() const override { return {"outline", where_, inputs[0]->meta().samples, {}}; }

 private:
  Location where_;
};

class Outline : public PythonFunction {
 public:
  std::string_view name() const override { return "outline"; }
  const char* why_not_ahead() const override { return nullptr; }
  bool same(const PythonFunction& other) const override { return dynamic_cast<const Outline*>(&other); }
  std::shared_ptr<Task> call(std::span<const ValuePtr> inputs, int, const Context&, Location where,
                             std::vector<ValuePtr>& promises) const override {
    auto task = std::make_shared<OutlineTask>(where);
    task->inputs.assign(inputs.begin(), inputs.end());
    Meta meta = inputs[0]->meta();
    meta.device = {};
    promises.push_back(task->promise(meta));
    promises.back()->lineage = inputs[0]->lineage;
    return task;
  }
};

nb::object outline(nb::handle value) {
  Request request;
  request.function = std::make_shared<const Outline>();
  request.inputs = {value_of(value), 1};
  if (const Value& sized = **value_of(value); sized.meta().is_batch) request.sized_by = &sized;
  request.samples = request.sized_by ? request.sized_by->meta().samples : -1;
  request.context = Ambient::here().current();
  request.where = user_location();
  return wrap(submit(request)[0]);
}

// Calls function([Tensor | Batch, ...]) -> sequence of Tensors or Batches, in order with the other operators.
// Also waits for `after`, values which the function reads without receiving them as arguments.
// With a key, which is equal in calls that do the same to their inputs, a pure function may be called ahead. One that
// calls avida's operators alone may run `anywhere`: on a thread that waits for its results, which saves waking another.
nb::object python_call(nb::object function, const std::string& name, nb::list inputs, nb::list after, int outputs,
                       int samples, bool pure, nb::object key, bool anywhere) {
  profile::Span calling;
  if (profile::on()) calling.begin(call_at_user_line(name));
  collect_garbage();
  auto values_in = [](nb::list list) {
    std::vector<ValuePtr> values;
    for (nb::handle item : list) values.push_back(*value_of(item));
    return values;
  };
  const std::vector<ValuePtr> values = values_in(inputs);
  Request request;
  request.function = std::make_shared<const Function>(std::move(function), name, values_in(after), outputs, pure,
                                                      std::move(key), anywhere);
  request.inputs = values;
  request.samples = samples;
  if (auto batch = std::ranges::find_if(values, [](auto& value) { return value->meta().is_batch; });
      batch != values.end())
    request.sized_by = batch->get();
  request.context = Ambient::here().current();
  request.where = user_location();
  nb::list out;
  for (auto& promise : submit(request)) out.append(wrap(promise));
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
  m.def("outline", &outline, nb::arg("value"),
        "A value of the same shapes, on the CPU, without elements: for operators that look at shapes alone.");
  m.def("python_call", &python_call, nb::arg("function"), nb::arg("name"), nb::arg("inputs"), nb::arg("after"),
        nb::arg("outputs"), nb::arg("samples"), nb::arg("pure") = false, nb::arg("key") = nb::none(),
        nb::arg("anywhere") = false);
}

}  // namespace avida::python
