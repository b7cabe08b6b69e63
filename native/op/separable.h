// The family of convolutions along the spatial axes, one after the other, with windows of odd size. Beyond the border
// samples are reflected, without their outermost elements.
#pragma once
#include <array>

#include "op/row_sums.h"
#include "op/space.h"

namespace avida {

class Launches;

using Windows = std::array<SymmetricWindow, 3>;  // for depth, height, width

// Rows [begin, end) of a sample: the sum of the convolutions with each of one to three terms.
struct SeparableWork {
  const Space& space;
  const SampleView &in, &out;
  std::span<const Windows> terms;
  int64_t begin, end;
  float scale = 1;  // of a sum of Whole numbers
  Launches* launches = nullptr;
};

// T is the type that sums are computed in: float; Fixed, from bytes to bytes; Whole, from bytes, where sums fit.
template <class T>
void sum_separable(const SeparableWork& work);

}  // namespace avida
