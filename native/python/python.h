// Declarations that the binding files share. This is the only folder that includes nanobind.
#pragma once
#include <nanobind/nanobind.h>

#include "operator/call.h"
#include "runtime/context.h"
#include "runtime/value.h"

namespace avida::python {

namespace nb = nanobind;

// The native halves of avida.Tensor and avida.Batch.
struct TensorBase {
  ValuePtr value;
  bool drawn_once = false;  // a random number drawn without a batch size, or computed from one
};
struct BatchBase {
  ValuePtr value;
};

// The value behind a Tensor or Batch; null for any other object.
const ValuePtr* value_of(nb::handle object);
// The native half of an avida.Tensor; null for any other object.
TensorBase* tensor_of(nb::handle object);
// A 0-d value from a Python bool (bool), int (int32) or float (float32).
ValuePtr value_from_number(nb::handle number);
// A new avida.Tensor or avida.Batch.
nb::object wrap(ValuePtr value);
// The same for samples that are already computed.
nb::object wrap(Data data, bool is_batch, LineagePtr lineage = nullptr);
// The origins of the samples of a value that is no longer pending.
LineagePtr lineage_of(const Value& value);

// A scope around taking the GIL. During the shutdown of the interpreter, a thread that takes the GIL would be
// terminated within C++ frames; it is blocked here forever instead. The shutdown waits for threads that came before,
// and executors may finish their current task until its timeout.
class TakingGil {
 public:
  TakingGil();
  ~TakingGil();
  TakingGil(const TakingGil&) = delete;
};

// Releases the GIL in a scope.
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

// Acquires the GIL in a scope, in a thread that may not have it.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;

 private:
  PyThreadState* made_ = nullptr;  // in a thread that Python did not know
  PyGILState_STATE state_{};
};

// Calls Python code that may run for long. If the interpreter exits meanwhile, the thread never returns: Python would
// unwind it, which must not reach C++ code.
nb::object call_python(nb::handle function, std::initializer_list<PyObject*> arguments);

// Sets the Python error for an exception of the native side.
void set_python_error(std::exception_ptr error);

// Releases references that native threads have dropped.
void collect_garbage();

// The samples, after waiting without the GIL. Signal handlers run during the wait.
const Data& get(Value& value);
Interrupt answer_signals();

// The nearest caller outside this package.
Location user_location();

// For profiles: an event of the user's line, and a call that it makes.
profile::Event at_user_line(profile::Event event);
profile::Event call_at_user_line(std::string_view name);

// Holds a reference from native code. If a thread without the GIL drops it, a thread with the GIL releases it later.
std::shared_ptr<void> hold(nb::object object);

void bind_values(nb::module_& m);
void bind_arrow(nb::module_& m);
void bind_arrow_exports(nb::module_& m);
void bind_calls(nb::module_& m);
void bind_execution(nb::module_& m);
void bind_python_calls(nb::module_& m);
void bind_gpu(nb::module_& m);
void bind_profiles(nb::module_& m);
void bind_descriptors(nb::module_& m);
void bind_storage(nb::module_& m);
void bind_stores(nb::module_& m);
void bind_stored_files(nb::module_& m);
void bind_readers(nb::module_& m);

}  // namespace avida::python
