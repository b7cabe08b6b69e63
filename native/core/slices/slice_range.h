// Where a slice starts and ends along one axis.
#pragma once
#include <cstdint>
#include <optional>

namespace avida {

struct SliceRange {
  int64_t start, end;
};

// What a user says of it: numbers of elements, or parts of the extent (rel_). At most one of `start` and `rel_start`,
// and one of the others.
struct SliceNumbers {
  std::optional<int64_t> start, end, shape;
  std::optional<float> rel_start, rel_end, rel_shape;
};

SliceRange slice_range(const SliceNumbers& numbers, int64_t extent);

// Throws for numbers that are not finite or too large.
int64_t rounded_place(double place);
void check_slice_extent(double extent);

}  // namespace avida
