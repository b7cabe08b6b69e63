// Descriptor: an open file or folder, for Python, that is closed with its last reference.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "python/python.h"

namespace avida::python {
namespace {

// A number that os.open returns is lost, and its file never closed, if a signal handler raises before it is stored.
class Descriptor {
 public:
  Descriptor(nb::object path, int flags) {
    PyObject* encoded = nullptr;
    if (!PyUnicode_FSConverter(path.ptr(), &encoded)) throw nb::python_error();
    const nb::object bytes = nb::steal(encoded);
    {
      WithoutGil waiting;
      do number_ = ::open(PyBytes_AS_STRING(encoded), flags | O_CLOEXEC);
      while (number_ < 0 && errno == EINTR);
    }
    if (number_ >= 0) return;
    PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path.ptr());
    throw nb::python_error();
  }
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;

  int number() const { return number_; }
  void close() {
    if (const int number = std::exchange(number_, -1); number >= 0) ::close(number);
  }

 private:
  int number_ = -1;
};

}  // namespace

void bind_descriptors(nb::module_& m) {
  nb::class_<Descriptor>(m, "Descriptor")
      .def(nb::init<nb::object, int>(), nb::arg("path"), nb::arg("flags"))
      .def("fileno", &Descriptor::number)
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](Descriptor& self, nb::args) { self.close(); });
}

}  // namespace avida::python
