// A sample as the operators on neighbourhoods see it: independent parts, each with one to three spatial axes, whose
// points are short runs of elements (the channels, where they are last).
#pragma once
#include <string_view>

#include "op/sample.h"
#include "op/window.h"

namespace avida {

struct Space {
  int axes = 0;                 // how many spatial axes the sample has
  int axes_before = 0;          // axes before those: frames, channels
  int64_t frames = 1;           // of a sequence; each frame has parts / frames parts
  int64_t parts = 1;            // the product of the axes before
  int64_t size[3] = {1, 1, 1};  // depth, height, width; the leading ones are 1 where there are fewer
  int64_t inner = 1;            // elements of one point

  int first() const { return 3 - axes; }  // of size[]
  int64_t rows() const { return parts * size[0] * size[1]; }
  int64_t row_elements() const { return size[2] * inner; }
  bool empty() const { return rows() * row_elements() == 0; }
};

// Frames and channels (F and C) may come first, channels also last; a sample without a layout has spatial axes only.
Space space_of(const Shape& shape, const Layout& layout);

// How many spatial axes such samples have; raises when that is not one to three.
int spatial_axes(int ndim, const Layout& layout);

// The number for spatial axis i, of one for all or one for each.
template <class List>
auto for_axis(const List& numbers, int i, int axes, const char* name) {
  if (std::ssize(numbers) != 1 && std::ssize(numbers) != axes)
    fail(ErrorKind::runtime, "expected one or ", axes, " numbers in \"", name, "\", got ", std::ssize(numbers));
  return *(numbers.begin() + (std::ssize(numbers) == 1 ? 0 : i));
}

// What lies beyond the border, by the names that the operators on neighbourhoods take.
OutOfBounds parse_border(std::string_view name, const char* argument);

// The element type of the output: the input's, or the one asked for, which may only be float32 otherwise.
DType filtered_dtype(DType asked, DType in);

}  // namespace avida
