// ReaderState, for Python: its members, its text and its dictionary, which may come from anywhere.
#include "readers/state.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "python/readers/readers.h"

namespace avida::python {
namespace {

constexpr int kVersion = 2;  // version 1 had no stretches
constexpr uint64_t kMost = uint64_t{1} << 53;

nb::list numbers_of(const std::vector<Stretch>& stretches) {
  nb::list numbers;
  for (const Stretch& stretch : stretches)
    for (int64_t number : {stretch.epoch, stretch.done, stretch.batch_size}) numbers.append(number);
  return numbers;
}

nb::list numbers_of(const Phase& phase) {
  nb::list numbers;
  for (int64_t number : {int64_t{phase.shards}, phase.base, phase.taken, phase.epoch, phase.done, phase.batch_size})
    numbers.append(number);
  numbers.extend(numbers_of(phase.stretches));
  return numbers;
}

// The members that are one number each.
template <class State, class Visit>
void each_number(State& state, Visit visit) {
  visit("epoch", state.epoch);
  visit("done", state.done);
  visit("base", state.base);
  visit("taken", state.taken);
  visit("shards", state.shards);
  visit("batch_size", state.batch_size);
  visit("samples", state.samples);
  visit("seed", state.seed);
  visit("own_order", state.own_order);
}

nb::dict to_dict(const ReaderState& state) {
  nb::dict values;
  values["version"] = kVersion;
  each_number(state, [&](const char* name, auto number) { values[name] = number; });
  nb::list history;
  for (const Phase& phase : state.history) history.append(numbers_of(phase));
  values["history"] = history;
  values["stretches"] = numbers_of(state.stretches);
  values["order"] = state.order;
  return values;
}

uint64_t number_in(const std::string& name, nb::handle value, uint64_t most) {
  if (!PyLong_CheckExact(value.ptr())) value_error("expected integers in the state of a reader");
  nb::object within = nb::module_::import_("avida._values.integers").attr("integer_within");
  return nb::cast<uint64_t>(within(str(name, " in the state of a reader"), value, 0, most));
}

std::vector<int64_t> integers_in(nb::handle list) {
  if (!PyList_Check(list.ptr()) && !PyTuple_Check(list.ptr()))
    value_error("expected lists of earlier parts and stretches of the run in the state of a reader");
  std::vector<int64_t> numbers;
  for (nb::handle number : list)
    numbers.push_back(static_cast<int64_t>(number_in("a number in the history", number, kMost)));
  return numbers;
}

std::vector<Stretch> stretches_in(const std::vector<int64_t>& numbers, size_t begin) {
  if (numbers.size() % 3 != 0) value_error("expected three numbers for each stretch in the state of a reader");
  std::vector<Stretch> stretches;
  for (size_t i = begin; i < numbers.size(); i += 3) stretches.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  return stretches;
}

void check_shards(uint64_t shards) {
  if (shards < 1 || shards > INT32_MAX)
    value_error("expected shards from 1 to 2**31 - 1 in the state of a reader, got ", shards);
}

Phase phase_in(const std::vector<int64_t>& numbers) {
  if (numbers.size() < 6)
    value_error("expected six or more numbers for each earlier part of the run in the state of a reader");
  check_shards(static_cast<uint64_t>(numbers[0]));
  return {static_cast<int>(numbers[0]), numbers[1], numbers[2], numbers[3], numbers[4], numbers[5],
          stretches_in(numbers, 6)};
}

// The members of a state, by name.
ReaderState of_members(const nb::dict& values) {
  ReaderState state;
  size_t known = 3;
  auto member = [&](const char* name) -> nb::object {
    if (!values.contains(name)) value_error("expected ", name, " in the state of a reader");
    return values[name];
  };
  each_number(state, [&](const char* name, auto& number) {
    const bool is_wide = sizeof(number) == 8 && std::is_unsigned_v<std::remove_reference_t<decltype(number)>>;
    const uint64_t found = number_in(name, member(name), is_wide ? UINT64_MAX : kMost);
    if (sizeof(number) == 4) check_shards(found);
    number = static_cast<std::remove_reference_t<decltype(number)>>(found);
    known++;
  });
  if (!nb::isinstance<nb::str>(member("order"))) value_error("expected a text as order in the state of a reader");
  state.order = nb::cast<std::string>(member("order"));
  state.stretches = stretches_in(integers_in(member("stretches")), 0);
  const nb::object history = member("history");
  if (!PyList_Check(history.ptr()) && !PyTuple_Check(history.ptr()))
    value_error("expected a list of earlier parts of the run in the state of a reader");
  for (nb::handle phase : history) state.history.push_back(phase_in(integers_in(phase)));
  if (state.batch_size < 1) value_error("expected batches of 1 or more samples in the state of a reader, got 0");
  if (nb::len(values) != known)
    value_error("expected ", known, " members in the state of a reader, got ", nb::len(values));
  return state;
}

ReaderState from_dict(nb::handle given) {
  if (!nb::isinstance<nb::dict>(given))
    fail(ErrorKind::type, "expected the state of a reader as a dictionary, got ", Py_TYPE(given.ptr())->tp_name);
  nb::dict values;
  values.update(nb::borrow<nb::dict>(given));
  const nb::object version = values.attr("pop")("version", nb::none());
  if (version.equal(nb::int_(1)))
    values["stretches"] = nb::list();
  else if (!version.equal(nb::int_(kVersion)))
    value_error("expected the state of a reader of version 1 or ", kVersion, ", got version ",
                nb::repr(version).c_str());
  return of_members(values);
}

std::string to_text(const ReaderState& state) {
  nb::object dumps = nb::module_::import_("json").attr("dumps");
  return nb::cast<std::string>(dumps(to_dict(state), nb::arg("separators") = nb::make_tuple(",", ":")));
}

ReaderState parse(const nb::str& text) {
  nb::object values;
  try {
    values = nb::module_::import_("json").attr("loads")(text);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    value_error(nb::repr(text[nb::slice(80)]).c_str(), " is not the state of a reader");
  }
  return from_dict(values);
}

ReaderState of(nb::handle state) {
  if (nb::isinstance<ReaderState>(state)) return nb::cast<ReaderState>(state);
  if (nb::isinstance<nb::str>(state)) return parse(nb::borrow<nb::str>(state));
  if (nb::isinstance<nb::bytes>(state))
    return parse(nb::str(nb::borrow<nb::bytes>(state).attr("decode")(nb::arg("errors") = "replace")));
  if (nb::isinstance<nb::dict>(state)) return from_dict(state);
  fail(ErrorKind::type, "expected a state or its text, got ", Py_TYPE(state.ptr())->tp_name);
}

}  // namespace

void bind_reader_states(nb::module_& m) {
  nb::class_<Stretch>(m, "ReaderStretch", "The batch size of a reader from a position on.")
      .def_ro("epoch", &Stretch::epoch)
      .def_ro("done", &Stretch::done)
      .def_ro("batch_size", &Stretch::batch_size);
  nb::class_<Phase>(m, "ReaderPhase", "A part of a run with one number of shards.")
      .def_ro("shards", &Phase::shards)
      .def_ro("base", &Phase::base)
      .def_ro("taken", &Phase::taken)
      .def_ro("epoch", &Phase::epoch)
      .def_ro("done", &Phase::done)
      .def_ro("batch_size", &Phase::batch_size)
      .def_ro("stretches", &Phase::stretches);

  nb::class_<ReaderState, Phase>(m, "ReaderState",
                                 "The position of a reader in its data.\n\n"
                                 "``str(state)`` is its text; its members are an implementation detail.")
      .def(
          "__init__",
          [](ReaderState* self, const nb::kwargs& members) {
            nb::dict values = to_dict({{.shards = 1}, {}});
            values.attr("pop")("version");
            values.update(members);
            new (self) ReaderState(of_members(values));
          },
          nb::sig("def __init__(self, **members: Any) -> None"))
      .def_ro("history", &ReaderState::history)
      .def_ro("samples", &ReaderState::samples)
      .def_ro("seed", &ReaderState::seed)
      .def_ro("order", &ReaderState::order)
      .def_ro("own_order", &ReaderState::own_order)
      .def("moved_to", &ReaderState::moved_to, nb::arg("epoch"), nb::arg("done"), nb::arg("batch_size"),
           nb::arg("wraps"), "The state at a later position, up to which batches have this size.")
      .def("divided_by", &ReaderState::divided_by, nb::arg("shards"),
           "The same position of a run that goes on with this number of shards.")
      .def(
          "of_data",
          [](ReaderState state, int64_t samples, uint64_t seed, const std::string& order) {
            state.samples = samples;
            state.seed = seed;
            state.order = order;
            return state;
          },
          nb::arg("samples"), nb::arg("seed"), nb::arg("order"), "The same position in data with these properties.")
      .def("to_dict", &to_dict, nb::sig("def to_dict(self) -> dict[str, Any]"),
           "As a dictionary of numbers, lists of numbers and a text.")
      .def_static("from_dict", &from_dict, nb::arg("values"),
                  nb::sig("def from_dict(values: dict[str, Any]) -> ReaderState"), "The reverse of :meth:`to_dict`.")
      .def_static("parse", &parse, nb::arg("text"), "The reverse of ``str(state)``.")
      .def_static("of", &of, nb::arg("state"),
                  nb::sig("def of(state: ReaderState | str | bytes | dict[str, Any]) -> ReaderState"),
                  "From a state, its text, the bytes of its text or its dictionary.")
      .def("__str__", &to_text)
      .def("__repr__",
           [](const ReaderState& state) {
             return str("ReaderState.parse(", nb::repr(nb::cast(to_text(state))).c_str(), ")");
           })
      .def(
          "__eq__", [](const ReaderState& a, const ReaderState& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const ReaderState& state) { return std::hash<std::string>()(to_text(state)); })
      .def("__getstate__", &to_dict, nb::sig("def __getstate__(self) -> dict[str, Any]"))
      .def(
          "__setstate__",
          [](ReaderState& state, const nb::dict& values) {  // without a version: when it was a class of Python
            new (&state) ReaderState(values.contains("version") ? from_dict(values) : of_members(values));
          },
          nb::arg("values"), nb::sig("def __setstate__(self, values: dict[str, Any]) -> None"));
}

}  // namespace avida::python
