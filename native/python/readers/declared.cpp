// Readers by their declarations: what they are, their arguments from Python objects, their sources.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <map>

#include "python/arguments.h"
#include "python/readers/readers.h"
#include "readers/declare.h"
#include "storage/waiting.h"

namespace avida::python {
namespace {

using Type = ReaderArg::Type;

constexpr std::array kTypeNames = {"python", "bool", "int",    "float", "str",   "path",   "dtype",
                                   "choice", "ints", "floats", "texts", "paths", "dtypes", "object"};

int64_t integer_of(const std::string& name, nb::handle object) {
  nb::object index = nb::steal(PyNumber_Index(object.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  int overflow;
  const int64_t number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow) fail(ErrorKind::overflow, name, ": the number ", nb::str(object).c_str(), " is too large");
  return number;
}

double real_of(nb::handle object) {
  const double number = PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred()) throw nb::python_error();
  return number;
}

DType dtype_of(nb::handle object) {
  nb::object found = nb::module_::import_("avida._values.dtype").attr("dtype")(object);
  return static_cast<DType>(nb::cast<int>(found.attr("_id")));
}

std::string file_of(nb::handle object) {
  nb::object name = nb::steal(PyOS_FSPath(object.ptr()));
  if (!name.is_valid()) throw nb::python_error();
  return path_of(name);
}

std::string text_of(nb::handle object) { return path_of(nb::str(object)); }

std::map<std::string, ConvertArgument::Function>& converters() {
  static auto* functions = new std::map<std::string, ConvertArgument::Function>;
  return *functions;
}

bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

// One item, or the items of an iterable.
template <class Item, class Convert>
std::vector<Item> list_of(nb::handle object, bool is_one, Convert convert) {
  std::vector<Item> list;
  if (is_one)
    list.push_back(convert(object));
  else
    for (nb::handle item : object) list.push_back(convert(item));
  return list;
}

template <class Item, class Convert>
std::vector<Item> numbers_of(const std::string& name, nb::handle object, Convert convert) {
  if (const ValuePtr* value = value_of(object); value && (*value)->meta().is_batch)
    value_error(name, " holds for all samples of a reader: expected numbers, got a Batch");
  return list_of<Item>(
      object, !PyObject_HasAttrString(object.ptr(), "__len__") && !PyObject_HasAttrString(object.ptr(), "__iter__"),
      convert);
}

ReaderValue value_of_argument(const ReaderArg& arg, nb::handle object) {
  const bool is_text = PyUnicode_Check(object.ptr());
  switch (arg.type) {
    case Type::boolean: {
      const int truth = PyObject_IsTrue(object.ptr());
      if (truth < 0) throw nb::python_error();
      return truth == 1;
    }
    case Type::integer:
      return integer_of(arg.name, object);
    case Type::real:
      return real_of(object);
    case Type::text:
      return text_of(object);
    case Type::path:
      return file_of(object);
    case Type::dtype:
      return dtype_of(object);
    case Type::integers:
      return numbers_of<int64_t>(arg.name, object, to_integer);
    case Type::reals:
      return numbers_of<double>(arg.name, object, real_of);
    case Type::texts:
      return list_of<std::string>(object, is_text, text_of);
    case Type::paths: {
      auto names = list_of<std::string>(object, is_text || PyObject_HasAttrString(object.ptr(), "__fspath__"), file_of);
      if (names.empty()) refuse("expected the names of files in ", arg.name, ", got an empty list");
      return names;
    }
    case Type::dtypes:
      return list_of<DType>(object, !is_list(object), dtype_of);
    case Type::choice:
      if (is_text) return text_of(object);
      return integer_of(arg.name, object);
    case Type::object:
      return converters().at(arg.name)(object);
    case Type::python:
      break;
  }
  fail(ErrorKind::type, arg.name, " is no argument of the source");
}

const ReaderSpec* find_reader(const std::string& name) {
  for (const ReaderSpec& spec : all_readers())
    if (spec.name == name) return &spec;
  return nullptr;
}

// The arguments of one reader.
class Arguments {
 public:
  Arguments(const std::string& reader, const nb::dict& given, std::optional<int> gpu, bool skip_errors)
      : spec_(find_reader(reader)) {
    if (!spec_) fail(ErrorKind::key, "there is no reader ", reader);
    args_ = spec_->make_args();
    args_->gpu = gpu;
    args_->skip_errors = skip_errors;
    for (auto [name, value] : given) set(nb::cast<std::string>(name), value);
    spec_->check(*args_);
  }

  // None stands for the default.
  void set(const std::string& name, nb::handle value) {
    for (auto* args : {&spec_->args, &common_reader_args()})
      for (const ReaderArg& arg : *args)
        if (arg.name == name && arg.set) {
          if (!value.is_none()) assign(arg, value);
          return;
        }
  }

  SourceHandle open(const nb::callable& warn) const {
    std::vector<std::string> warnings;
    std::shared_ptr<Source> source;
    const size_t dot = spec_->name.rfind('.') + 1;
    const Opening opening{str(spec_->name.substr(0, dot), "readers.", spec_->name.substr(dot)), answer_signals(),
                          [&](const std::string& text) { warnings.push_back(text); }};
    {
      WithoutGil released;
      const storage::ThroughCache through(args_->cache);
      source = storage::interruptibly(opening.interrupt, [&] { return spec_->open(*args_, opening); });
      source->cache = args_->cache;
    }
    for (auto& text : warnings) warn(nb::steal(PyUnicode_DecodeFSDefault(text.c_str())));
    return {std::move(source)};
  }

 private:
  void assign(const ReaderArg& arg, nb::handle value) {
    try {
      arg.set(*args_, value_of_argument(arg, value));
    } catch (const Error& error) {
      fail(error.kind, arg.choices ? str(arg.name, ' ') : "", error.message);
    }
  }

  const ReaderSpec* spec_;
  std::shared_ptr<ReaderArgs> args_;
};

nb::list describe(const std::vector<ReaderArg>& args) {
  nb::list list;
  for (const ReaderArg& arg : args) {
    if (arg.flags & ReaderArg::internal) continue;
    nb::dict d;
    d["name"] = arg.name;
    d["doc"] = arg.doc;
    d["type"] = kTypeNames[static_cast<size_t>(arg.type)];
    d["annotation"] = arg.annotation;
    if (arg.choices) {
      nb::list names;
      for (const Choice& choice : arg.choices->list()) names.append(nb::str(choice.name.data(), choice.name.size()));
      d["choices"] = names;
    }
    d["default"] = arg.default_text;
    d["required"] = static_cast<bool>(arg.flags & ReaderArg::required);
    d["ignored"] = static_cast<bool>(arg.flags & ReaderArg::ignored);
    d["locates"] = static_cast<bool>(arg.flags & ReaderArg::locates);
    d["positional"] = static_cast<bool>(arg.flags & ReaderArg::positional);
    d["last"] = static_cast<bool>(arg.flags & ReaderArg::last);
    list.append(d);
  }
  return list;
}

nb::list describe_readers() {
  nb::list readers;
  for (const ReaderSpec& spec : all_readers()) {
    nb::dict d, old_names;
    for (auto& [old, name] : spec.old_names) old_names[old.c_str()] = name;
    d["name"] = spec.name;
    d["doc"] = spec.doc;
    d["example"] = spec.example;
    d["base"] = spec.base;
    d["library"] = spec.library;
    d["op"] = spec.op;
    d["archive"] = spec.archive;
    d["blocks"] = spec.blocks;
    d["args"] = describe(spec.args);
    d["old_names"] = old_names;
    readers.append(d);
  }
  return readers;
}

}  // namespace

ConvertArgument::ConvertArgument(const char* name, Function function) { converters()[name] = function; }

namespace {

const BindFormat declared([](nb::module_& m) {
  m.def("has_reader", [](const std::string& name) { return find_reader(name) != nullptr; }, nb::arg("name"));
  m.def("describe_readers", &describe_readers);
  m.def("describe_common_reader_args", [] { return describe(common_reader_args()); });
  nb::class_<Arguments>(m, "ReaderArguments")
      .def(nb::init<const std::string&, const nb::dict&, std::optional<int>, bool>(), nb::arg("reader"),
           nb::arg("given"), nb::arg("gpu").none(), nb::arg("skip_errors"))
      .def("set", &Arguments::set, nb::arg("name"), nb::arg("value").none())
      .def("open", &Arguments::open, nb::arg("warn"));
});

}  // namespace
}  // namespace avida::python
