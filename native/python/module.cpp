#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "codecs/codec.h"
#include "cuda/kernel.h"
#include "python/python.h"

namespace avida::python {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;  // names Clang itself
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

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

// File names in a message may be any bytes.
void set_error(ErrorKind kind, const std::string& message) {
  nb::object text = nb::steal(PyUnicode_DecodeUTF8(message.data(), message.size(), "surrogateescape"));
  PyErr_SetObject(exception_type(kind), text.ptr());
}

// Raised anew each time: raising one object again and again would grow its traceback, and keep alive what it shows.
nb::object copy_of(PyObject* exception) {
  nb::object original = nb::borrow(exception);
  try {
    nb::object copied = nb::module_::import_("copy").attr("copy")(original);
    if (Py_TYPE(copied.ptr()) != Py_TYPE(exception)) return original;
    PyException_SetTraceback(copied.ptr(), nb::object(original.attr("__traceback__")).ptr());
    return copied;
  } catch (nb::python_error&) {
    return original;
  }
}

}  // namespace

void set_python_error(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(pointer);
  } catch (const FailureError& error) {
    if (error.failure->cause) {
      nb::object cause = copy_of(static_cast<PyObject*>(error.failure->cause.get()));
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause.ptr())), cause.ptr());
    } else {
      set_error(error.failure->kind, error.failure->message);
    }
  } catch (const Error& error) {
    set_error(error.kind, error.message);
  }
}

NB_MODULE(_core, m) {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) { set_python_error(error); });
  nb::set_leak_warnings(false);  // values may live until the process ends
  m.attr("compiler") = kCompiler;
  bind_values(m);
  bind_calls(m);
  bind_execution(m);
  bind_python_calls(m);
  bind_gpu(m);
  m.def(
      "codecs",
      [] {
        std::vector<std::pair<std::string, std::string>> found;
        for (const codecs::Codec& codec : codecs::all_codecs()) found.emplace_back(codec.name, codec.library);
        for (const codecs::AudioFormat& format : codecs::audio_formats())
          found.emplace_back(format.name, format.library);
        return found;
      },
      "The formats of images and sound that this build reads, each with the library that does the work.");
  m.def(
      "kernels",
      [] {
        std::vector<std::tuple<std::string, std::vector<std::string>, bool>> found;
        for (const Kernel* kernel : kernels())
          found.emplace_back(kernel->body, std::vector<std::string>(kernel->headers.begin(), kernel->headers.end()),
                             kernel->block_threads > 0);
        return found;
      },
      "The bodies that a GPU can run: C++ types, the headers that declare them, whether a block of threads makes an "
      "item.");
  bind_readers(m);
}

}  // namespace avida::python
