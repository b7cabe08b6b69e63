// References to Python objects that native threads hold, and drop without the GIL.
#include <atomic>
#include <mutex>
#include <vector>

#include "python/python.h"

namespace avida::python {
namespace {

// References dropped by threads without the GIL; a thread that holds it releases them later.
class Garbage {
 public:
  void add(PyObject* object) {
    {
      std::lock_guard lock(mutex_);
      objects_.push_back(object);
    }
    // The main thread releases them when it runs Python code, other threads when they call an operator.
    if (!any_.exchange(true)) Py_AddPendingCall(collect_in_main_interpreter, nullptr);
  }
  void collect() {
    if (!any_.exchange(false)) return;
    std::vector<PyObject*> objects;
    {
      std::lock_guard lock(mutex_);
      objects.swap(objects_);
    }
    for (PyObject* object : objects) Py_DECREF(object);
  }
  static Garbage& instance() {
    static Garbage* garbage = new Garbage;
    return *garbage;
  }

 private:
  // Python 3.11 may call it while the main thread is in a subinterpreter, where destructors would deadlock.
  static int collect_in_main_interpreter(void*) {
    if (PyInterpreterState_Get() == PyInterpreterState_Main()) instance().collect();
    return 0;
  }
  ForkSafe<> mutex_{ForkAware::Rank::garbage};
  std::vector<PyObject*> objects_;
  std::atomic<bool> any_{false};
};

bool finalizing() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

// PyGILState_Check() is always true once the process has had a subinterpreter.
bool has_gil() {
#if PY_VERSION_HEX >= 0x030d0000
  PyThreadState* current = PyThreadState_GetUnchecked();
#else
  PyThreadState* current = _PyThreadState_UncheckedGet();
#endif
  return current && current == PyGILState_GetThisThreadState();
}

}  // namespace

std::shared_ptr<void> hold(nb::object object) {
  return {object.release().ptr(), [](void* p) {
            if (finalizing()) return;
            if (has_gil())
              Py_DECREF(static_cast<PyObject*>(p));
            else
              Garbage::instance().add(static_cast<PyObject*>(p));
          }};
}

void collect_garbage() { Garbage::instance().collect(); }

}  // namespace avida::python
