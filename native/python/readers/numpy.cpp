// readers.Numpy: arrays in .npy files.
#include "readers/numpy/numpy.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "ops/generic/slice.h"
#include "python/readers/readers.h"

namespace avida::python {
namespace {

template <class T>
std::optional<Vec<T>> numbers(const std::optional<std::vector<T>>& list) {
  if (!list) return std::nullopt;
  if (list->size() > kMaxDim) refuse("expected at most ", kMaxDim, " numbers, got ", list->size());
  Vec<T> out;
  for (T number : *list) out.push_back(number);
  return out;
}

using Integers = std::optional<std::vector<int64_t>>;
using Floats = std::optional<std::vector<float>>;

// At most one of `start` and `rel_start` is given, and at most one of the four arguments for the end of the region.
NumpyRegion numpy_region(const Integers& axes, const Integers& start, const Integers& end, const Integers& shape,
                         const Floats& rel_start, const Floats& rel_end, const Floats& rel_shape,
                         const std::string& policy, float fill) {
  NumpyRegion region;
  ops::SlicePlace place = {.axes = numbers(axes),
                           .end = numbers(end),
                           .shape = numbers(shape),
                           .start = numbers(start),
                           .rel_end = numbers(rel_end),
                           .rel_shape = numbers(rel_shape),
                           .rel_start = numbers(rel_start)};
  region.window_of = [place](const Shape& array) { return ops::slice_window(place, {}, {}, array, {}); };
  region.policy = parse_out_of_bounds(policy);
  region.fill = fill;
  return region;
}

const BindFormat numpy([](nb::module_& m) {
  nb::class_<NumpyRegion>(m, "NumpyRegion");
  m.def("numpy_region", &numpy_region, nb::arg("axes").none(), nb::arg("start").none(), nb::arg("end").none(),
        nb::arg("shape").none(), nb::arg("rel_start").none(), nb::arg("rel_end").none(), nb::arg("rel_shape").none(),
        nb::arg("policy"), nb::arg("fill"));
  m.def(
      "numpy_source",
      [](const FileListHandle& files, const NumpyRegion* region, bool read_ahead) {
        auto wanted = region ? std::optional(*region) : std::nullopt;
        WithoutGil released;
        return SourceHandle{numpy_source(files.files, std::move(wanted), read_ahead)};
      },
      nb::arg("files"), nb::arg("region").none(), nb::arg("read_ahead"));
});

}  // namespace
}  // namespace avida::python
