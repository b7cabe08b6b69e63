// What the binding files share. The only folder that includes nanobind.
#pragma once
#include <nanobind/nanobind.h>

#include "op/call.h"
#include "runtime/context.h"
#include "runtime/value.h"

namespace avida::python {

namespace nb = nanobind;

// The native halves of avida.Tensor and avida.Batch.
struct TensorBase {
  ValuePtr value;
};
struct BatchBase {
  ValuePtr value;
};

// The value behind a Tensor or Batch; null for any other object.
const ValuePtr* value_of(nb::handle object);
// A 0-d value from a Python bool (bool), int (int32) or float (float32).
ValuePtr value_from_number(nb::handle number);
// A new avida.Tensor or avida.Batch.
nb::object wrap(ValuePtr value);
// The same for samples that are there.
nb::object wrap(Data data, bool is_batch, LineagePtr lineage = nullptr);
// Who the samples of a value are that is no longer pending.
LineagePtr lineage_of(const Value& value);

// Stands around taking the GIL. A thread that comes back while the interpreter shuts down is held here for good, since
// taking the GIL then would end it in the midst of C++ frames; shutting down waits for those that came before.
class TakingGil {
 public:
  TakingGil();
  ~TakingGil();
  TakingGil(const TakingGil&) = delete;
};

// Lets other Python threads run while this one works or waits.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    TakingGil taking;
    PyEval_RestoreThread(state_);
  }
  WithoutGil(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// Sets the Python error for an exception of the native side.
void set_python_error(std::exception_ptr error);

// Drops references that native threads put aside.
void collect_garbage();

// The samples, after waiting without the GIL. Signals are answered while waiting.
const Data& get(Value& value);
Interrupt answer_signals();

// Runs the task as this thread's mode says.
void launch(const std::shared_ptr<Task>& task);

// The nearest caller outside this package.
Location user_location();

// Holds a reference from native code: dropping it from a thread without the GIL puts it aside for one that has it.
std::shared_ptr<void> hold(nb::object object);

void bind_values(nb::module_& m);
void bind_calls(nb::module_& m);
void bind_execution(nb::module_& m);
void bind_python_calls(nb::module_& m);
void bind_gpu(nb::module_& m);

// The memory of a tensor on a GPU, for work in another stream: that waits for ours, and ours for it when the memory is
// given back. -1: the other needs no waiting.
Block lend(const Data& data, intptr_t stream);
Layout layout_for(const std::string& text, int ndim);
void bind_readers(nb::module_& m);

}  // namespace avida::python
