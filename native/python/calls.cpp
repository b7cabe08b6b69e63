// Calling operators, and telling Python what operators there are.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>

#include "cuda/gpu.h"
#include "op/keyed.h"
#include "python/python.h"

namespace avida::python {
namespace {

nb::handle convert_input;   // avida's as_tensor: any array-like to a Tensor
nb::handle resolve_device;  // raises for a device that is not there
nb::handle draw_position;   // takes a position from a random generator, or from the default one for None
nb::handle seed_of;         // that generator's seed
std::string package_prefix;

ValuePtr to_value(nb::handle object) {
  if (auto* value = value_of(object)) return *value;
  if (PyBool_Check(object.ptr()) || PyLong_CheckExact(object.ptr()) || PyFloat_CheckExact(object.ptr()))
    return value_from_number(object);
  return *value_of(convert_input(object));
}

Device device_of(nb::handle given) {
  nb::object device = resolve_device(given);
  if (nb::cast<std::string>(device.attr("device_type")) == "cpu") return Device();
  return {Device::Kind::gpu, nb::cast<int16_t>(device.attr("device_id"))};
}

int64_t truncated(double d) {
  if (!std::isfinite(d) || std::fabs(d) > 9e18) value_error("expected an integer, got ", d);
  return static_cast<int64_t>(d);
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
    if (id < 0 || id >= kDTypeCount) value_error("there is no data type ", id);
    return static_cast<DType>(id);
  }
  nb::object parsed = nb::module_::import_("avida._dtype").attr("dtype")(object);
  return static_cast<DType>(nb::cast<int>(parsed.attr("_id")));
}

bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

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
    case ArgType::real:
      if (is_list(object)) {
        nb::sequence list = nb::borrow<nb::sequence>(object);
        if (nb::len(list) == 1) return bind_arg(arg, nb::object(list[0]));
        fail(arg.flags & fixed ? ErrorKind::type : ErrorKind::runtime, "expected one number",
             arg.flags & fixed ? "" : ", or a Batch with one for each sample", ", got ", nb::repr(object).c_str());
      }
      if (arg.type == ArgType::integer) return ArgValue(to_integer(object));
      return ArgValue(to_real(object));
    case ArgType::dtype:
      return ArgValue(to_dtype(object));
    case ArgType::layout:
    case ArgType::string:
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
        return to_value(object);
      }
      if (arg.type == ArgType::integers) return ArgValue(to_integer(object));
      return ArgValue(to_real(object));
  }
  return std::monostate{};
}

// The number of samples asked for; -1: not said. That of a Batch is known even while it is pending.
int asked_samples(nb::handle batch_size, nb::handle like) {
  if (!like.is_none()) {
    if (!batch_size.is_none()) value_error("expected \"batch_size\" or \"like\", got both");
    const ValuePtr* value = value_of(like);
    if (!value || !(*value)->meta().is_batch)
      type_error("argument \"like\" expected a Batch, got ", nb::str(like.type().attr("__name__")).c_str());
    return (*value)->meta().samples;
  }
  if (batch_size.is_none()) return -1;
  int64_t size = to_integer(batch_size);
  if (size < 0 || size > kMaxSamples)
    value_error("batch_size must be from 0 (not negative) to ", kMaxSamples, ", got ", size);
  return static_cast<int>(size);
}

// What `keyed_by` says: samples, perhaps with a name for the draw.
struct Keyed {
  explicit Keyed(nb::handle given) {
    nb::handle samples = given;
    if (PyTuple_Check(given.ptr()) && PyTuple_GET_SIZE(given.ptr()) == 2) {
      nb::handle second = PyTuple_GET_ITEM(given.ptr(), 1);
      if (!PyUnicode_Check(second.ptr()) || PyUnicode_GET_LENGTH(second.ptr()) == 0)
        type_error("argument \"keyed_by\" expected a name for the draw, got ", nb::repr(second).c_str());
      name = nb::cast<std::string>(second);
      samples = PyTuple_GET_ITEM(given.ptr(), 0);
    }
    const ValuePtr* found = value_of(samples);
    if (!found)
      type_error("argument \"keyed_by\" expected a Batch or Tensor that comes from a reader, got ",
                 nb::str(samples.type().attr("__name__")).c_str());
    value = *found;
  }

  // Without waiting, but for samples in an order that is being computed.
  LineagePtr lineage() const {
    if (value->lineage && !value->lineage->permuted) return value->lineage;
    const Data& data = get(*value);  // raises what went wrong with it, rather than what follows from that
    LineagePtr known = in_order(value->lineage, data.origins);
    if (!known) value_error("argument \"keyed_by\" expected samples that a reader has read, these are not");
    return known;
  }

  ValuePtr value;
  std::string name;
};

Call::Draws draws_for(const OpSpec& spec, nb::handle rng, const std::optional<Keyed>& keyed) {
  Call::Draws draws;
  if (keyed) {
    draws.lineage = keyed->lineage();
    draws.keyed = keyed_streams(nb::cast<uint64_t>(seed_of(rng)), *draws.lineage, keyed->name);
  } else if (spec.random) {
    auto drawn = nb::cast<std::pair<uint64_t, uint64_t>>(draw_position(rng));
    draws.random = {drawn.first, drawn.second};
  }
  return draws;
}

bool any_given(const nb::tuple& inputs) {
  for (nb::handle input : inputs)
    if (!input.is_none()) return true;
  return false;
}

nb::object call(int id, nb::tuple inputs, nb::object batch_size, nb::object device, nb::tuple args, nb::object rng,
                nb::object keyed_by, nb::object like) {
  collect_garbage();
  const OpSpec& spec = op_at(id);
  if (args.size() != spec.args.size()) type_error(spec.name, ": expected ", spec.args.size(), " arguments");
  std::byte buffer[2048];
  std::pmr::monotonic_buffer_resource scratch(buffer, sizeof(buffer));
  std::pmr::vector<ValuePtr> values(&scratch);
  std::pmr::vector<BoundArg> bound(&scratch);
  values.reserve(inputs.size());
  std::shared_ptr<Call> task;
  Ambient& ambient = Ambient::here();
  try {
    std::optional<Keyed> keyed;
    if (!keyed_by.is_none()) keyed.emplace(keyed_by);
    Call::Draws draws = draws_for(spec, rng, keyed);
    std::optional<Device> asked;
    if (!device.is_none())
      asked = device_of(device);
    else if (!any_given(inputs))
      asked = ambient.device;
    int n = asked_samples(batch_size, like);
    if (n < 0 && keyed && keyed->value->meta().is_batch) n = keyed->value->meta().samples;
    size_t at = 0;
    for (nb::handle input : inputs) {
      const InputSpec& declared = spec.inputs[std::min(at++, spec.inputs.size() - 1)];
      if (input.is_none() && !declared.optional) type_error("input \"", declared.name, "\" is missing");
      values.push_back(input.is_none() ? nullptr : to_value(input));
    }
    bound.reserve(spec.args.size());
    for (size_t i = 0; i < spec.args.size(); i++) {
      nb::handle object = PyTuple_GET_ITEM(args.ptr(), i);
      try {
        bound.push_back(bind_arg(spec.args[i], object));
      } catch (const Error& error) {
        throw Error(error.kind, str("argument \"", spec.args[i].name, "\" ", error.message));
      }
    }
    task = Call::make(spec, values, bound, n, {*ambient.current(), asked}, user_location(), std::move(draws));
  } catch (const Error& error) {
    throw Error(error.kind, shown_name(spec) + ": " + error.message);
  }
  auto promises = task->promises();
  launch(task);
  if (ambient.mode == EvalMode::sync_cpu || ambient.mode == EvalMode::sync_full) {
    const Data& data = promises[0]->ready();
    if (ambient.mode == EvalMode::sync_full && data.device.kind == Device::Kind::gpu) {
      WithoutGil released;
      try {
        Gpu::at(data.device.id).synchronize(data.stream);
      } catch (const Error& error) {
        throw Error(error.kind, shown_name(spec) + ": " + error.message);
      }
    }
  }
  if (promises.size() == 1) return wrap(std::move(promises[0]));
  nb::object out = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(promises.size())));
  for (size_t i = 0; i < promises.size(); i++)
    PyTuple_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i), wrap(std::move(promises[i])).release().ptr());
  return out;
}

const char* type_name(ArgType type) {
  switch (type) {
    case ArgType::boolean:
      return "bool";
    case ArgType::integer:
      return "int";
    case ArgType::real:
      return "float";
    case ArgType::dtype:
      return "dtype";
    case ArgType::layout:
      return "layout";
    case ArgType::string:
      return "str";
    case ArgType::integers:
      return "ints";
    case ArgType::reals:
      return "floats";
  }
  return "";
}

nb::dict describe_op(int id) {
  const OpSpec& spec = op_at(id);
  nb::list inputs, args;
  for (auto& input : spec.inputs) {
    nb::list layouts;
    for (auto& layout : input.layouts) layouts.append(std::string(layout.view()));
    nb::dict d;
    d["name"] = input.name;
    d["doc"] = input.doc;
    d["layouts"] = layouts;
    d["optional"] = input.optional;
    d["variadic"] = input.variadic;
    inputs.append(d);
  }
  for (auto& arg : spec.args) {
    nb::dict d;
    d["name"] = arg.name;
    d["doc"] = arg.doc;
    d["type"] = type_name(arg.type);
    d["default"] = arg.default_text;
    d["required"] = static_cast<bool>(arg.flags & required);
    d["per_sample"] = !(arg.flags & fixed);
    d["deprecated"] = static_cast<bool>(arg.flags & deprecated);
    args.append(d);
  }
  nb::dict out;
  out["name"] = spec.name;
  out["doc"] = spec.doc;
  out["example"] = spec.example;
  out["inputs"] = inputs;
  out["args"] = args;
  out["hidden"] = spec.hidden;
  out["plain"] = spec.plain;
  out["random"] = spec.random;
  out["keyed"] = spec.keyed;
  out["per_frame"] = spec.per_frame;
  out["on_gpu"] = spec.on_gpu;  // else calls on a GPU are run by the CPU
  out["outputs"] =
      spec.count_outputs || spec.output_per_optional_input ? -1 : spec.outputs;  // -1: the arguments say how many
  return out;
}

}  // namespace

Location user_location() {
  static auto* files = new std::set<std::string, std::less<>>;  // kept for good: locations point into it
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return {};
  nb::object at = nb::borrow(reinterpret_cast<PyObject*>(frame));
  while (at.is_valid()) {
    auto* f = reinterpret_cast<PyFrameObject*>(at.ptr());
    nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(f)));
    PyObject* name = reinterpret_cast<PyCodeObject*>(code.ptr())->co_filename;
    Py_ssize_t size;
    const char* text = PyUnicode_AsUTF8AndSize(name, &size);
    if (!text) {
      PyErr_Clear();
      return {};
    }
    std::string_view file(text, static_cast<size_t>(size));
    if (!file.starts_with(package_prefix)) {
      auto known = files->find(file);
      if (known == files->end()) known = files->emplace(file).first;
      return {known->c_str(), PyFrame_GetLineNumber(f)};
    }
    at = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
  }
  return {};
}

void launch(const std::shared_ptr<Task>& task) {
  Ambient& ambient = Ambient::here();
  auto& executor = ambient.current()->executor;
  switch (ambient.mode) {
    case EvalMode::deferred:
      return executor->defer(task);
    case EvalMode::eager:
      return executor->submit(task);
    case EvalMode::sync_cpu:
    case EvalMode::sync_full: {
      WithoutGil released;
      executor->run_here(task, answer_signals());
    }
  }
}

void bind_calls(nb::module_& m) {
  m.def("call", &call, nb::arg("op"), nb::arg("inputs"), nb::arg("batch_size").none(), nb::arg("device").none(),
        nb::arg("args"), nb::arg("rng").none() = nb::none(), nb::arg("keyed_by").none() = nb::none(),
        nb::arg("like").none() = nb::none());
  m.def(
      "set_random_source",
      [](nb::object draw, nb::object seed) {
        draw_position = draw.release();
        seed_of = seed.release();
      },
      nb::arg("draw"), nb::arg("seed"),
      "Sets the functions that random operators call: (RNG or None) -> (seed, position), and -> seed for keyed draws.");
  m.def(
      "philox",
      [](uint64_t key, uint64_t high, uint64_t low, int word) { return philox(key, high, low).word[word & 3]; },
      nb::arg("key"), nb::arg("high"), nb::arg("low"), nb::arg("word"));
  m.def("op_count", &op_count);
  m.def("describe_op", &describe_op);
  m.def("find_op", [](const std::string& name) {
    int id = find_op(name);
    if (id < 0) fail(ErrorKind::key, "there is no operator \"", name, '"');
    return id;
  });
  m.def("set_converters", [](nb::object input, nb::object device, const std::string& package) {
    convert_input = input.release();
    resolve_device = device.release();
    package_prefix = package;
  });
}

}  // namespace avida::python
