// Calls operators, and describes them to Python.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "operator/keyed.h"
#include "python/arguments.h"
#include "python/submit.h"

namespace avida::python {
namespace {

nb::handle draw_position;  // takes a position from a random generator, or from the default one for None
nb::handle seed_of;        // that generator's seed
std::string package_prefix;
nb::handle scene_type, random_type;  // avida.Scene; arguments that are drawn for each sample
nb::handle take_apart;               // (operator, inputs, named arguments, names of integers) -> results of such calls

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

// Parses `keyed_by`: samples, optionally with a name for the draw.
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

  // Does not wait, except for samples whose order is still being computed.
  LineagePtr lineage() const {
    if (value->lineage && !value->lineage->permuted) return value->lineage;
    const Data& data = get(*value);  // raises the original error of the value, if it has failed
    LineagePtr known = in_order(value->lineage, data.origins);
    if (!known)
      value_error("argument \"keyed_by\" expected samples that a reader has read, got samples without an origin");
    return known;
  }

  ValuePtr value;
  std::string name;
  uint64_t seed = 0;
  std::vector<unsigned> numbers;  // of the draw of each sample; empty if it is named
};

// Where a generator stands. That of a group of samples has a seed for each of them, too.
struct Position {
  uint64_t seed = 0, position = 0;
  std::vector<uint64_t> seeds;

  explicit Position(nb::handle rng) {
    const auto drawn = nb::cast<nb::tuple>(draw_position(rng));
    seed = nb::cast<uint64_t>(drawn[0]);
    position = nb::cast<uint64_t>(drawn[1]);
    if (drawn.size() > 2) seeds = nb::cast<std::vector<uint64_t>>(drawn[2]);
  }
};

Call::Draws draws_for(const OpSpec& spec, nb::handle rng, std::optional<Keyed>& keyed, std::vector<uint64_t>& seeds) {
  Call::Draws draws;
  if (keyed) {
    draws.lineage = keyed->lineage();
    check_keyed(*draws.lineage);
    keyed->seed = nb::cast<uint64_t>(seed_of(rng));
    if (keyed->name.empty()) keyed->numbers = count_draws(*draws.lineage);
    draws.keyed = keyed_streams(keyed->seed, *draws.lineage, keyed->name, keyed->numbers);
  } else if (spec.random) {
    Position drawn(rng);
    draws.random = {drawn.seed, drawn.position};
    seeds = std::move(drawn.seeds);
  }
  return draws;
}

// Shows a warning at the user's line, once for each line unless a filter of Python's says otherwise.
void warn(const OpSpec& spec, const std::string& text) {
  nb::module_::import_("avida._running.warn").attr("warn")(shown_name(spec) + ": " + text);
}

// Images without a layout count as channels-last. Warns if their shape looks like channels-first.
void check_channels(const OpSpec& spec, const InputSpec& input, const Value& value) {
  if (value.pending() || value.failed()) return;
  const Data& data = value.ready();
  if (data.size() == 0) return;
  const int ndim = data.shapes.ndim();
  auto assumed = std::ranges::find(input.layouts, ndim, &Layout::size);
  if (assumed == input.layouts.end() || (assumed->view() != "HWC" && assumed->view() != "FHWC")) return;
  const Shape shape = data.shapes[0];
  const int64_t first = shape[ndim - 3], last = shape[ndim - 1];
  if ((first != 1 && first != 3 && first != 4) || last <= 4) return;
  // Without the whole shape, which would cause a new warning for every size.
  warn(spec, str("\"", input.name, "\" has no layout and is taken as ", *assumed, ", but axis ", ndim - 3, " has ",
                 first, first == 1 ? " element" : " elements",
                 " and the last axis more than 4, which looks like channels first. "
                 "Set the layout: avida.as_tensor(x, layout=\"",
                 ndim == 3 ? "CHW" : "FCHW", "\"), or layout=", *assumed, " if that is what it is"));
}

constexpr const char* kDrawnOnce =
    "one random number is used for all samples of the batch, because it was drawn without a batch size. Draw one for "
    "each sample with batch_size= or like=, for example avida.random.coin_flip(like=images). If one for all is "
    "intended, "
    "pass number.item() or avida.as_tensor(number)";

bool any_number_drawn = false;  // in this process, without a batch size; guarded by the GIL

bool drawn_once(nb::handle object) {
  TensorBase* tensor = tensor_of(object);
  return tensor && tensor->drawn_once;
}

bool holds_drawn_once(nb::handle object) {
  if (PyList_CheckExact(object.ptr()) || PyTuple_CheckExact(object.ptr()))
    return std::ranges::any_of(nb::borrow<nb::sequence>(object), drawn_once);
  return drawn_once(object);
}

// Of one call, as borrowed references.
struct Given {
  using Objects = std::span<PyObject* const>;

  Objects inputs, args;  // as many as are declared, or more inputs where the last is variadic; None: not given
  nb::handle batch_size, device, rng, keyed_by, like;

  bool any_input() const { return std::ranges::any_of(inputs, std::not_fn(Py_IsNone)); }
  bool any_drawn_once() const {
    if (!any_number_drawn) return false;
    return std::ranges::any_of(inputs, drawn_once) || std::ranges::any_of(args, holds_drawn_once);
  }
};

// Whether the results are random numbers: drawn by a random operator, or computed from random numbers.
bool makes_random_numbers(const OpSpec& spec, bool of_random_numbers) {
  if (spec.random) return spec.draws_numbers;
  return of_random_numbers && (spec.hidden || spec.plain || spec.passes_numbers);
}

nb::object wrap_result(ValuePtr value, bool drawn_once) {
  nb::object result = wrap(std::move(value));
  if (drawn_once) any_number_drawn = tensor_of(result)->drawn_once = true;
  return result;
}

// A call that is ready to be made.
struct Prepared {
  std::byte buffer[2048];
  std::pmr::monotonic_buffer_resource scratch{buffer, sizeof(buffer)};
  std::pmr::vector<ValuePtr> values{&scratch};
  std::pmr::vector<BoundArg> bound{&scratch};
  std::optional<Keyed> keyed;
  Call::Draws draws;
  std::optional<Device> device;
  int samples = -1;
  const Value* sized_by = nullptr;

  Prepared(const OpSpec& spec, const Given& given) {
    if (!given.keyed_by.is_none()) keyed.emplace(given.keyed_by);
    std::vector<uint64_t> seeds;
    draws = draws_for(spec, given.rng, keyed, seeds);
    if (!given.device.is_none())
      device = device_of(given.device);
    else if (!given.any_input())
      device = Ambient::here().device;
    samples = asked_samples(given.batch_size, given.like);
    if (samples < 0 && keyed && keyed->value->meta().is_batch) {
      samples = keyed->value->meta().samples;
      sized_by = keyed->value.get();
    }
    size_t at = 0;
    values.reserve(given.inputs.size());
    for (nb::handle input : given.inputs) {
      const InputSpec& declared = spec.inputs[std::min(at++, spec.inputs.size() - 1)];
      if (input.is_none() && !declared.optional)
        type_error("input \"", declared.name, "\" is missing: None is no data");
      values.push_back(input.is_none() ? nullptr : input_value(input, spec));
      if (!declared.layouts.empty() && values.back() && values.back()->meta().layout.empty())
        check_channels(spec, declared, *values.back());
    }
    bound.reserve(spec.args.size());
    for (size_t i = 0; i < spec.args.size(); i++) {
      try {
        bound.push_back(bind_arg(spec.args[i], given.args[i]));
      } catch (const Error& error) {
        throw Error(error.kind, str("argument \"", spec.args[i].name, "\" ", error.message));
      }
    }
    if (!seeds.empty() && batch_size() == std::ssize(seeds))
      for (uint64_t seed : seeds) draws.keyed.push_back({seed, draws.random.position, 0});
  }

  // -1: it makes no Batch.
  int64_t batch_size() const {
    for (const ValuePtr& value : values)
      if (value && value->meta().is_batch) return value->meta().samples;
    for (const BoundArg& arg : bound)
      if (auto* value = std::get_if<ValuePtr>(&arg); value && *value && (*value)->meta().is_batch)
        return (*value)->meta().samples;
    return samples;
  }
};

std::vector<ValuePtr> submit_call(const OpSpec& spec, const Prepared& prepared) {
  Request request;
  request.spec = &spec;
  request.inputs = prepared.values;
  request.args = prepared.bound;
  request.samples = prepared.samples;
  request.sized_by = prepared.sized_by;
  request.device = prepared.device;
  request.context = Ambient::here().current();
  request.where = user_location();
  request.draws = &prepared.draws;
  Request::Keyed keyed;
  if (prepared.keyed) {
    keyed = {prepared.keyed->value, prepared.keyed->seed, prepared.keyed->name, prepared.keyed->numbers};
    request.keyed = &keyed;
  }
  return submit(request);
}

bool needs_apart(const Given& given) {
  auto is_scene = [](PyObject* input) { return Py_TYPE(input) == reinterpret_cast<PyTypeObject*>(scene_type.ptr()); };
  auto is_random = [](PyObject* arg) { return Py_TYPE(arg) == reinterpret_cast<PyTypeObject*>(random_type.ptr()); };
  return std::ranges::any_of(given.inputs, is_scene) || std::ranges::any_of(given.args, is_random);
}

nb::object call_apart(const OpSpec& spec, const Given& given) {
  nb::list inputs, whole;
  nb::dict named;
  for (nb::handle input : given.inputs) inputs.append(input);
  auto add = [&](const char* name, nb::handle value) {
    if (!value.is_none()) named[name] = value;
  };
  for (size_t i = 0; i < spec.args.size(); i++) {
    const ArgType type = spec.args[i].type;
    add(spec.args[i].name.c_str(), given.args[i]);
    if (type == ArgType::integer || type == ArgType::integers) whole.append(spec.args[i].name);
  }
  add("batch_size", given.batch_size);
  add("device", given.device);
  add("rng", given.rng);
  add("keyed_by", given.keyed_by);
  add("like", given.like);
  return take_apart(spec.name, inputs, named, whole);
}

nb::object call(const OpSpec& spec, const Given& given) {
  if (needs_apart(given)) return call_apart(spec, given);
  profile::Span calling;
  if (profile::on()) calling.begin(call_at_user_line(shown_name(spec)));
  collect_garbage();
  bool once = given.any_drawn_once();
  std::vector<ValuePtr> promises;
  try {
    const Prepared prepared(spec, given);
    if (once && prepared.batch_size() >= 0) warn(spec, kDrawnOnce);
    promises = submit_call(spec, prepared);
  } catch (const Error& error) {
    throw Error(error.kind, shown_name(spec) + ": " + error.message);
  }
  once = !promises[0]->meta().is_batch && makes_random_numbers(spec, once);
  if (promises.size() == 1) return wrap_result(std::move(promises[0]), once);
  nb::object out = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(promises.size())));
  for (size_t i = 0; i < promises.size(); i++)
    PyTuple_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i), wrap_result(std::move(promises[i]), once).release().ptr());
  return out;
}

// An operator as a function of Python: inputs by position, everything else by name.
class OpFunction {
 public:
  explicit OpFunction(const OpSpec& spec);
  OpFunction(const OpFunction&) = delete;

  nb::object object() const { return nb::borrow(object_); }

 private:
  static PyObject* run(PyObject* self, PyObject* const* objects, Py_ssize_t inputs, PyObject* names);
  nb::object call_with(std::span<PyObject* const> inputs, PyObject* const* named, PyObject* names) const;
  size_t slot_of(PyObject* name, size_t expected) const;

  const OpSpec& spec_;
  std::vector<PyObject*> names_;  // batch_size, device, arguments, rng, keyed_by, like; interned, null: not taken
  PyMethodDef method_;
  PyObject* object_;
};

OpFunction::OpFunction(const OpSpec& spec) : spec_(spec) {
  auto add = [this](const char* name, bool taken = true) {
    names_.push_back(taken ? PyUnicode_InternFromString(name) : nullptr);
  };
  add("batch_size");
  add("device");
  for (const ArgSpec& arg : spec.args) add(arg.name.c_str());
  add("rng", spec.random);
  add("keyed_by", spec.keyed);
  add("like");
  method_ = {spec.name.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&run)),
             METH_FASTCALL | METH_KEYWORDS, nullptr};
  object_ = PyCFunction_New(&method_, nb::capsule(this).ptr());
}

PyObject* OpFunction::run(PyObject* self, PyObject* const* objects, Py_ssize_t inputs, PyObject* names) {
  try {
    auto* function = static_cast<const OpFunction*>(PyCapsule_GetPointer(self, nullptr));
    return function->call_with({objects, static_cast<size_t>(inputs)}, objects + inputs, names).release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (...) {
    try {
      set_python_error(std::current_exception());
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
  }
  return nullptr;
}

nb::object OpFunction::call_with(std::span<PyObject* const> inputs, PyObject* const* named, PyObject* names) const {
  const size_t declared = spec_.inputs.size();
  if (inputs.size() > declared && spec_.max_inputs() >= 0)
    type_error(shown_name(spec_), ": expected ", declared, " inputs, got ", inputs.size());
  std::byte buffer[1024];
  std::pmr::monotonic_buffer_resource scratch(buffer, sizeof(buffer));
  std::pmr::vector<PyObject*> slots(names_.size(), Py_None, &scratch);
  size_t slot = 0;
  for (Py_ssize_t i = 0, n = names ? PyTuple_GET_SIZE(names) : 0; i < n; i++) {
    slot = slot_of(PyTuple_GET_ITEM(names, i), slot);
    slots[slot++] = named[i];
  }
  std::pmr::vector<PyObject*> all_inputs(&scratch);
  if (spec_.max_inputs() >= 0 && inputs.size() < declared) {
    all_inputs.assign(inputs.begin(), inputs.end());
    all_inputs.resize(declared, Py_None);
    inputs = all_inputs;
  }
  const Given::Objects args = Given::Objects(slots).subspan(2, spec_.args.size());
  PyObject* const* last = slots.data() + 2 + args.size();
  return call(spec_, {inputs, args, slots[0], slots[1], last[0], last[1], last[2]});
}

// Callers mostly name arguments in the order of their declaration, by the interned strings of their code.
size_t OpFunction::slot_of(PyObject* name, size_t expected) const {
  auto found = std::find(names_.begin() + expected, names_.end(), name);
  if (found == names_.end())
    found = std::ranges::find_if(names_, [&](PyObject* known) { return known && !PyUnicode_Compare(known, name); });
  if (found == names_.end())
    type_error(shown_name(spec_), ": there is no argument \"", nb::str(nb::handle(name)).c_str(), '"');
  return static_cast<size_t>(found - names_.begin());
}

int known_op(const std::string& name) {
  const int id = find_op(name);
  if (id < 0) fail(ErrorKind::key, "there is no operator \"", name, '"');
  return id;
}

nb::object op_function(const std::string& name) {
  static auto* functions = new std::map<int, OpFunction>;  // kept for good: Python holds pointers to them
  const int id = known_op(name);
  return functions->try_emplace(id, op_at(id)).first->second.object();
}

// Operators whose library was missing when this was built: they can be imported, and are refused when they are called.
std::vector<std::string>& missing_ops() {
  static auto* names = new std::vector<std::string>;
  return *names;
}

// The number of an operator that has just these arguments, in this order; below 0 for one that is missing.
int op_with_args(const std::string& name, const std::string& args) {
  const int id = find_op(name);
  if (id < 0) {
    missing_ops().push_back(name);
    return -static_cast<int>(missing_ops().size());
  }
  std::string declared;
  for (const ArgSpec& arg : op_at(id).args) declared += (declared.empty() ? "" : " ") + arg.name;
  if (args != declared)
    fail(ErrorKind::runtime, name, " has the arguments (", declared, "), but its generated function passes (", args,
         "). Run `make generate`, or install avida again");
  return id;
}

Given::Objects items_of(const nb::tuple& tuple) {
  return {reinterpret_cast<PyTupleObject*>(tuple.ptr())->ob_item, nb::len(tuple)};
}

// What generated functions call: by position, since Python passes a tuple of many values faster than their names. The
// names were compared by op_with_args.
nb::object call_generated(int id, nb::tuple inputs, nb::handle batch_size, nb::handle device, nb::tuple args,
                          nb::handle rng, nb::handle keyed_by, nb::handle like) {
  if (id < 0)
    fail(ErrorKind::runtime, missing_ops()[static_cast<size_t>(-id - 1)],
         " is not in this build of avida: the library that it needs was missing when it was built");
  const OpSpec& spec = op_at(id);
  if (args.size() != spec.args.size()) type_error(spec.name, ": expected ", spec.args.size(), " arguments");
  return call(spec, {items_of(inputs), items_of(args), batch_size, device, rng, keyed_by, like});
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
    case ArgType::choice:
      return "choice";
    case ArgType::enumeration:
      return "enumeration";
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
    nb::list choices;
    if (arg.choices)
      for (const Choice& choice : arg.choices->list()) choices.append(std::string(choice.name));
    d["choices"] = choices;
    d["enumeration"] = arg.choices && arg.choices->enumeration() ? arg.choices->enumeration() : "";
    d["default"] = arg.default_text;
    d["required"] = static_cast<bool>(arg.flags & required);
    d["per_sample"] = !(arg.flags & fixed);
    d["deprecated"] = static_cast<bool>(arg.flags & deprecated);
    d["adds_output"] = static_cast<bool>(arg.flags & adds_output);
    args.append(d);
  }
  nb::dict out;
  out["name"] = spec.name;
  out["doc"] = spec.doc;
  out["example"] = spec.example;
  out["raises"] = spec.raises;
  out["inputs"] = inputs;
  out["input_kind"] = std::string(name_of(spec.input_kind));
  out["args"] = args;
  out["hidden"] = spec.hidden;
  out["plain"] = spec.plain;
  out["random"] = spec.random;
  out["keyed"] = spec.keyed;
  out["takes_like"] = spec.draws_numbers || (spec.random && spec.inputs.empty());
  out["per_frame"] = spec.per_frame;
  out["on_gpu"] = spec.on_gpu;  // else calls on a GPU run on the CPU
  out["gpu_only"] = spec.gpu_only;
  out["outputs"] = spec.count_outputs || spec.output_per_optional_input
                       ? -1
                       : spec.outputs;  // -1: the arguments determine the number
  out["least_outputs"] = spec.outputs;
  return out;
}

}  // namespace

Location user_location() {
  static auto* files = new std::set<std::string, std::less<>>;  // never freed: locations point into it
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

void bind_calls(nb::module_& m) {
  m.def("op", &op_function, nb::arg("name"), "An operator as a function: inputs by position, everything else by name.");
  m.def("op_with_args", &op_with_args, nb::arg("name"), nb::arg("args"),
        "The number of an operator with just these arguments; below 0 if this build does not have it.");
  m.def("call", &call_generated, nb::arg("op"), nb::arg("inputs"), nb::arg("batch_size").none(),
        nb::arg("device").none(), nb::arg("args"), nb::arg("rng").none() = nb::none(),
        nb::arg("keyed_by").none() = nb::none(), nb::arg("like").none() = nb::none());
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
  m.def(
      "set_take_apart",
      [](nb::object scene, nb::object random, nb::object function) {
        scene_type = scene.release();
        random_type = random.release();
        take_apart = function.release();
      },
      nb::arg("scene"), nb::arg("random"), nb::arg("function"),
      "Sets the types of Scenes and of random arguments, and what calls with such do.");
  m.def(
      "repeat_draw",
      [](nb::handle keyed_by) {
        if (const Keyed keyed(keyed_by); keyed.name.empty()) repeat_draws(*keyed.lineage());
      },
      nb::arg("keyed_by"), "The next random call of this key draws what the last one has drawn.");
  m.def("op_count", &op_count);
  m.def("describe_op", &describe_op);
  m.def("set_package", [](const std::string& folder) { package_prefix = folder; });
  m.def("set_converters", &set_converters);
}

}  // namespace avida::python
