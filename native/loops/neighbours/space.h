// The spatial axes of a sample, and the borders and element types that operators on neighbourhoods take.
// A sample has independent parts, each with one to three spatial axes, whose points are short runs of elements.
#pragma once
#include "arguments/choices.h"
#include "loops/moving/convert_run.h"
#include "loops/neighbours/neighbours.h"
#include "operator/sample.h"

namespace avida {

struct Space : Grid {   // where there are fewer than three axes, the leading sizes are 1
  int axes = 0;         // how many spatial axes the sample has
  int axes_before = 0;  // axes before those: frames, channels
  int64_t frames = 1;   // of a sequence; each frame has parts / frames parts
  int64_t parts = 1;    // the product of the axes before

  int first() const { return 3 - axes; }  // of size[]
  int64_t rows() const { return parts * size[0] * size[1]; }
  int64_t row_elements() const { return size[2] * inner; }
  int64_t elements() const { return rows() * row_elements(); }
  bool empty() const { return elements() == 0; }
};

// Frames and channels (F and C) may come first, channels also last; a sample without a layout has spatial axes only.
Space space_of(const Shape& shape, const Layout& layout);

// How many spatial axes such samples have; raises when that is not one to three.
int spatial_axes(int ndim, const Layout& layout);

// The number for spatial axis i, of one for all or one for each.
template <class List>
auto for_axis(const List& numbers, int i, int axes, const char* name) {
  if (std::ssize(numbers) != 1 && std::ssize(numbers) != axes)
    refuse("expected one or ", axes, " numbers in \"", name, "\", got ", std::ssize(numbers));
  return *(numbers.begin() + (std::ssize(numbers) == 1 ? 0 : i));
}

// What lies beyond the border, by the names that the operators on neighbourhoods take.
AVIDA_CHOICES_WITH(Border, kAnyCase, {"constant", Border::fill}, {"clamp", Border::clamp},
                   {"reflect_1001", Border::reflect}, {"reflect_101", Border::reflect_101}, {"wrap", Border::wrap},
                   {"fill", Border::fill}, {"pad", Border::fill}, {"edge", Border::clamp}, {"replicate", Border::clamp},
                   {"reflect", Border::reflect}, {"1001", Border::reflect}, {"reflect101", Border::reflect_101},
                   {"101", Border::reflect_101})

// The element type of the output: the input's, or the one asked for, which may only be float32 otherwise.
DType filtered_dtype(DType asked, DType in);

}  // namespace avida
