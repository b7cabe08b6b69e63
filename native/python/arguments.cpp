#include "python/arguments.h"

#include <nanobind/stl/string.h>

#include <cmath>
#include <string>
#include <vector>

#include "arguments/traits.h"
#include "core/made_once.h"

namespace avida::python {
namespace {

nb::handle convert_array;   // avida's tensor: any array-like to a Tensor
nb::handle convert_input;   // (what stands for a Tensor or Batch, operator, kind of its inputs) -> Tensor or Batch
nb::handle resolve_device;  // raises for a device that is not there

bool is_number(nb::handle object) {
  return PyBool_Check(object.ptr()) || PyLong_CheckExact(object.ptr()) || PyFloat_CheckExact(object.ptr());
}

ValuePtr to_value(nb::handle object) {
  if (auto* value = value_of(object)) return *value;
  if (is_number(object)) return value_from_number(object);
  return *value_of(convert_array(object));
}

bool is_array_of_numbers(nb::handle object) {
  static constinit MadeOnce<const nb::object> numpy_array;  // other threads may take the GIL while NumPy is imported
  const auto import = [] { return std::make_unique<const nb::object>(nb::module_::import_("numpy").attr("ndarray")); };
  if (reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) != numpy_array.get(import).ptr()) return false;
  nb::object kind = object.attr("dtype").attr("kind");
  const Py_UCS4 letter = PyUnicode_READ_CHAR(kind.ptr(), 0);
  return letter == 'b' || letter == 'i' || letter == 'u' || letter == 'f';
}

int64_t truncated(double d) {
  if (!std::isfinite(d) || std::fabs(d) > 9e18) value_error("expected an integer, got ", d);
  return static_cast<int64_t>(d);
}

double to_real(nb::handle object) {
  double d = PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    type_error("expected a number, got ", nb::repr(object).c_str());
  }
  return d;
}

DType to_dtype(nb::handle object) {
  if (PyLong_Check(object.ptr())) {
    int64_t id = to_integer(object);
    const bool is_type_id = !PyLong_CheckExact(object.ptr());  // these are other numbers from 12 on
    if (!is_type_id && (id < 0 || id >= kAllDTypeCount)) value_error("there is no data type ", id);
    if (!is_type_id || (id >= 0 && id < static_cast<int>(DType::bfloat16))) return static_cast<DType>(id);
  }
  nb::object parsed = nb::module_::import_("avida._values.dtype").attr("dtype")(object);
  return static_cast<DType>(nb::cast<int>(parsed.attr("_id")));
}

bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

template <class... Lists>
bool is_kind_of(const MemberKind* kind) {
  return ((kind == &arg::kind_of<Lists>() || kind == &arg::kind_of<std::optional<Lists>>()) || ...);
}

// Lists in a list, for an argument that is a list of numbers: one for each sample.
bool is_list_per_sample(const ArgSpec& arg, nb::handle object) {
  using Reals = std::vector<double>;
  if (!is_kind_of<Vec<int>, Vec<int64_t>, Vec<float>, std::vector<int>, std::vector<float>, Reals>(arg.kind))
    return false;
  for (nb::handle item : nb::borrow<nb::sequence>(object))
    if (!is_list(item)) return false;
  return nb::len(object) > 0;
}

ValuePtr batch_of(const ArgSpec& arg, nb::handle lists) {
  const nb::object batch = nb::module_::import_("avida._values.batch").attr("batch");
  if (is_kind_of<std::vector<double>>(arg.kind)) return *value_of(batch(lists, "float64"));
  return *value_of(batch(lists));
}

// A list of plain numbers; false when it holds anything else (a nested list, an array).
template <class Item, class Convert>
bool to_list(nb::handle object, std::vector<Item>& out, Convert convert) {
  for (nb::handle item : nb::borrow<nb::sequence>(object)) {
    if (!PyNumber_Check(item.ptr()) || value_of(item) || PyObject_HasAttrString(item.ptr(), "__len__")) return false;
    out.push_back(convert(item));
  }
  return true;
}

bool is_per_sample_object(nb::handle object) {
  return value_of(object) || PyObject_HasAttrString(object.ptr(), "__array_interface__") ||
         PyObject_HasAttrString(object.ptr(), "__dlpack__") || PyObject_HasAttrString(object.ptr(), "__array__");
}

}  // namespace

ValuePtr input_value(nb::handle object, const OpSpec& spec) {
  if (auto* value = value_of(object)) return *value;
  if (is_number(object)) return value_from_number(object);
  if (is_array_of_numbers(object)) return *value_of(convert_array(object));
  return *value_of(convert_input(object, shown_name(spec), std::string(name_of(spec.input_kind))));
}

Device device_of(nb::handle given) {
  nb::object device = resolve_device(given);
  if (nb::cast<std::string>(device.attr("device_type")) == "cpu") return Device();
  return {Device::Kind::gpu, nb::cast<int16_t>(device.attr("device_id"))};
}

int64_t to_integer(nb::handle object) {
  if (PyFloat_Check(object.ptr())) return truncated(PyFloat_AS_DOUBLE(object.ptr()));
  nb::object index = nb::steal(PyNumber_Index(object.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    double d = PyFloat_AsDouble(object.ptr());
    if (PyErr_Occurred() || PyUnicode_Check(object.ptr())) {
      PyErr_Clear();
      type_error("expected an integer, got ", nb::repr(object).c_str());
    }
    return truncated(d);
  }
  int overflow;
  int64_t v = PyLong_AsLongAndOverflow(index.ptr(), &overflow);
  if (overflow) fail(ErrorKind::overflow, "the number ", nb::str(object).c_str(), " is too large");
  return v;
}

BoundArg bind_arg(const ArgSpec& arg, nb::handle object) {
  if (object.is_none()) return std::monostate{};
  if (arg.flags & deprecated) return std::monostate{};
  bool plain = PyLong_Check(object.ptr()) || PyFloat_CheckExact(object.ptr()) || PyUnicode_Check(object.ptr()) ||
               is_list(object);
  if (!plain && arg.type != ArgType::dtype && is_per_sample_object(object)) {
    if (!(arg.flags & fixed)) return to_value(object);
    const ValuePtr* value = value_of(object);
    if (value && (*value)->meta().is_batch) type_error("is the same for the whole batch and cannot be a Batch");
    // An array for a fixed argument: taken apart into numbers.
    nb::object list = nb::module_::import_("numpy").attr("asarray")(object).attr("tolist")();
    return bind_arg(arg, list);
  }
  switch (arg.type) {
    case ArgType::boolean: {
      int truth = PyObject_IsTrue(object.ptr());
      if (truth < 0) throw nb::python_error();
      return ArgValue(truth == 1);
    }
    case ArgType::integer:
    case ArgType::enumeration:
    case ArgType::real:
      if (is_list(object)) {
        nb::sequence list = nb::borrow<nb::sequence>(object);
        if (nb::len(list) == 1) return bind_arg(arg, nb::object(list[0]));
        fail(arg.flags & fixed ? ErrorKind::type : ErrorKind::runtime, "expected one number",
             arg.flags & fixed ? "" : ", or a Batch with one for each sample", ", got ", nb::repr(object).c_str());
      }
      if (arg.type == ArgType::real) return ArgValue(to_real(object));
      if (PyUnicode_Check(object.ptr()) && arg.type == ArgType::enumeration)
        return ArgValue(nb::cast<std::string>(object));
      if (PyUnicode_Check(object.ptr())) type_error("expected an integer, got ", nb::repr(object).c_str());
      return ArgValue(to_integer(object));
    case ArgType::dtype:
      return ArgValue(to_dtype(object));
    case ArgType::layout:
    case ArgType::string:
    case ArgType::choice:
      if (!PyUnicode_Check(object.ptr())) type_error("expected a string, got ", nb::repr(object).c_str());
      return ArgValue(nb::cast<std::string>(object));
    case ArgType::integers:
    case ArgType::reals:
      if (is_list(object)) {
        std::vector<int64_t> integers;
        std::vector<double> reals;
        if (arg.type == ArgType::integers ? to_list(object, integers, to_integer) : to_list(object, reals, to_real)) {
          if (arg.type == ArgType::integers) return ArgValue(std::move(integers));
          return ArgValue(std::move(reals));
        }
        if (arg.flags & fixed) type_error("expected a list of numbers, got ", nb::repr(object).c_str());
        return is_list_per_sample(arg, object) ? batch_of(arg, object) : to_value(object);
      }
      if (PyBool_Check(object.ptr())) return ArgValue(object.ptr() == Py_True);  // a number, or all of them
      if (arg.type == ArgType::integers) return ArgValue(to_integer(object));
      return ArgValue(to_real(object));
  }
  return std::monostate{};
}

void set_converters(nb::object array, nb::object input, nb::object device) {
  convert_array = array.release();
  convert_input = input.release();
  resolve_device = device.release();
}

}  // namespace avida::python
