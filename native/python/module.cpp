#include "python/python.h"

namespace avida::python {
namespace {

PyObject* exception_type(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::value:
      return PyExc_ValueError;
    case ErrorKind::type:
      return PyExc_TypeError;
    case ErrorKind::index:
      return PyExc_IndexError;
    case ErrorKind::memory:
      return PyExc_MemoryError;
    case ErrorKind::key:
      return PyExc_KeyError;
    case ErrorKind::os:
      return PyExc_OSError;
    case ErrorKind::overflow:
      return PyExc_OverflowError;
    case ErrorKind::not_implemented:
      return PyExc_NotImplementedError;
    case ErrorKind::runtime:
      break;
  }
  return PyExc_RuntimeError;
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const FailureError& error) {
    if (error.failure->cause) {
      PyObject* cause = static_cast<PyObject*>(error.failure->cause.get());
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause)), cause);
    } else {
      PyErr_SetString(exception_type(error.failure->kind), error.failure->message.c_str());
    }
  } catch (const Error& error) {
    PyErr_SetString(exception_type(error.kind), error.message.c_str());
  }
}

}  // namespace

NB_MODULE(_core, m) {
  nb::register_exception_translator(translate);
  nb::set_leak_warnings(false);  // values may live until the process ends
  bind_values(m);
  bind_calls(m);
  bind_execution(m);
  bind_python_calls(m);
}

}  // namespace avida::python
