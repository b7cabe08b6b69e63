// Mixtures of readers.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "python/readers/readers.h"
#include "readers/mix/mix_source.h"

namespace avida::python {
namespace {

MixOrder::Stop stop_of(nb::handle stop) {
  if (!nb::isinstance<nb::str>(stop)) return MixOrder::Stop::slots;
  return nb::cast<std::string>(stop) == "all" ? MixOrder::Stop::all : MixOrder::Stop::first;
}

// Parts are (name, source, schedule).
SourceHandle mix(nb::list parts, const std::optional<std::vector<double>>& weights, nb::handle stop, uint64_t seed) {
  std::vector<MixSource::Part> made;
  for (nb::handle part : parts)
    made.push_back({nb::cast<std::string>(part[0]), nb::cast<const SourceHandle&>(part[1]).source,
                    nb::cast<const Schedule&>(part[2])});
  const MixOrder::Stop when = stop_of(stop);
  const int64_t slots = when == MixOrder::Stop::slots ? nb::cast<int64_t>(stop) : 0;
  return {std::make_shared<MixSource>(std::move(made), weights, when, slots, seed)};
}

const BindFormat mixtures([](nb::module_& m) {
  m.def("mix_sources", &mix, nb::arg("parts"), nb::arg("weights").none(), nb::arg("stop"), nb::arg("seed"),
        nb::sig("def mix_sources(parts: list[tuple[str, ReaderSource, ReaderSchedule]], "
                "weights: list[float] | None, stop: str | int, seed: int) -> ReaderSource"),
        "Several sources as one. `stop` is \"first\", \"all\" or a number of samples.");
});

}  // namespace
}  // namespace avida::python
