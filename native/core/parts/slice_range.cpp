#include "core/parts/slice_range.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "device/convert.h"

namespace avida {

int64_t rounded_place(double place) {
  if (!(std::fabs(place) < 4e18)) refuse("expected a window with finite ends below 4e18, got ", place);
  return convert<int64_t>(place);
}

void check_slice_extent(double extent) {
  if (extent < 0) refuse("the window's extent must not be negative, got ", extent);
}

// An extent in parts of the sample's is not rounded itself: the positions where it starts and ends are.
SliceRange slice_range(const SliceNumbers& numbers, int64_t extent) {
  auto in_float = [&](float part) { return static_cast<double>(part * static_cast<float>(extent)); };
  auto in_double = [&](float part) { return static_cast<double>(part) * static_cast<double>(extent); };
  const auto& [start, end, shape, rel_start, rel_end, rel_shape] = numbers;

  double from = rel_start ? in_float(*rel_start) : static_cast<double>(start.value_or(0));
  SliceRange range{.start = rounded_place(from), .end = 0};
  if (shape) {
    check_slice_extent(static_cast<double>(*shape));
    if (__builtin_add_overflow(range.start, *shape, &range.end))
      refuse("the window from ", range.start, " is too large: its extent is ", *shape);
  } else if (rel_shape) {
    check_slice_extent(*rel_shape);
    double to = rel_start ? in_double(*rel_start) + in_double(*rel_shape) : from + in_float(*rel_shape);
    range.end = std::max(range.start, rounded_place(to));
  } else {
    double to = rel_end ? in_float(*rel_end) : static_cast<double>(end.value_or(extent));
    if (from > to) refuse("the window starts at ", from, ", after its end at ", to);
    range.end = rounded_place(to);
  }
  return range;
}

}  // namespace avida
