// Profiles, for Python.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <vector>

#include "python/python.h"

namespace avida::python {
namespace {

using profile::Recording;

// An event as Python reads it, from an array of records. Texts are numbers in a list; -1: none.
struct Packed {
  int64_t begin, end, queue, bytes, in_use;
  int32_t name, file, line, at_file, at_line, reason, samples, thread;
  int16_t gpu;  // -1: the CPU
  uint8_t kind, outcome, ahead, nested;
};
static_assert(sizeof(Packed) == 80);

class Texts {
 public:
  int32_t number(const char* text) {
    if (!text) return -1;
    auto [known, is_new] = numbers_.try_emplace(text, static_cast<int32_t>(numbers_.size()));
    if (is_new) list_.append(nb::steal(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(strlen(text)), "replace")));
    return known->second;
  }
  const nb::list& list() const { return list_; }

 private:
  std::map<std::string, int32_t> numbers_;
  nb::list list_;
};

// All events, as (array of Packed, texts, the system's numbers of the threads, whether there was room for all).
nb::tuple events_of(const Recording& recording) {
  const Recording::Recorded recorded = recording.recorded();
  Texts texts;
  std::vector<Packed> packed;
  nb::list threads;
  for (const auto& thread : recorded.threads) {
    for (const profile::Event& e : thread.events) {
      const profile::Label& label = e.label;
      packed.push_back({.begin = e.begin,
                        .end = e.end,
                        .queue = reinterpret_cast<intptr_t>(e.queue),
                        .bytes = e.bytes,
                        .in_use = e.in_use,
                        .name = texts.number(label.name),
                        .file = texts.number(label.where.file),
                        .line = label.where.line,
                        .at_file = texts.number(e.at.file),
                        .at_line = e.at.line,
                        .reason = texts.number(e.reason),
                        .samples = label.samples,
                        .thread = static_cast<int32_t>(nb::len(threads)),
                        .gpu = static_cast<int16_t>(label.device.kind == Device::Kind::gpu ? label.device.id : -1),
                        .kind = static_cast<uint8_t>(e.kind),
                        .outcome = static_cast<uint8_t>(e.outcome),
                        .ahead = e.ahead,
                        .nested = e.nested});
    }
    threads.append(thread.id);
  }
  return nb::make_tuple(nb::bytes(packed.data(), packed.size() * sizeof(Packed)), texts.list(), threads,
                        recorded.complete);
}

// CPython runs no signal handler between these functions and the `with` block, so that every recording is also stopped.
nb::object enter_profile(nb::handle profile) {
  nb::cast<Recording&>(profile.attr("_recording")).start();
  return nb::borrow(profile);
}

void exit_profile(nb::handle profile, nb::args) {
  auto& recording = nb::cast<Recording&>(profile.attr("_recording"));
  {
    WithoutGil released;
    recording.stop();
  }
  profile.attr("_note_threads")();
}

}  // namespace

profile::Event at_user_line(profile::Event event) {
  event.at = user_location();
  if (!event.at.file)  // what an operator made of a Python function does for itself, without calling the function
    if (auto work = profile::Work::event(profile::Kind::work)) event.at = work->label.where;
  if (event.kind != profile::Kind::wait) event.label.where = event.at;  // that of a wait is the call waited for
  return event;
}

profile::Event call_at_user_line(std::string_view name) {
  profile::Event event{.kind = profile::Kind::call, .label = {.name = profile::intern(name)}};
  event.nested = Executor::on_own_thread();
  return at_user_line(event);
}

void bind_profiles(nb::module_& m) {
  nb::class_<Recording>(m, "ProfileRecording")
      .def(nb::init<>())
      .def_prop_ro("begin", &Recording::begin)
      .def_prop_ro("end", &Recording::end, "In nanoseconds; the present moment while it runs.")
      .def_prop_ro("thread", &Recording::thread, "The system's number of the thread that started it.")
      .def("events", &events_of,
           "The events as records, their texts, the system's numbers of the threads, and whether all had room.");
  m.def("enter_profile", &enter_profile);
  m.def("exit_profile", &exit_profile);
  m.def(
      "note_ahead",
      [](const std::string& file, int line, const std::string& name, int outcome, const std::string& reason) {
        if (profile::on())
          profile::note_ahead({profile::intern(file), line}, name, static_cast<profile::Ahead>(outcome), reason);
      },
      nb::arg("file"), nb::arg("line"), nb::arg("name"), nb::arg("outcome"), nb::arg("reason"));
}

}  // namespace avida::python
