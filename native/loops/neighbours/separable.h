// The family of separable convolutions, on either device: along one spatial axis after the other.
// Windows have odd sizes. Beyond the border samples are reflected, without their outermost elements.
#pragma once
#include <array>

#include "loops/neighbours/row_sums.h"
#include "loops/neighbours/space.h"

namespace avida {

class Launches;

using Windows = std::array<SymmetricWindow, 3>;  // for depth, height, width

struct SeparableWork {
  const SampleView &in, &out;
  int64_t begin, end;  // rows
  Launches* launches;  // null on the CPU
  const Space& space;
  std::span<const Windows> terms;
  float scale;
};

template <class T>
void sum_separable(const SeparableWork& work);

// Makes the rows of a sample that `work` asks for: the sum of the convolutions with each of one to three terms. T is
// the type that sums are computed in: float; Fixed, from bytes to bytes; Whole, from bytes, where sums fit. Sums of
// Whole numbers are multiplied by `scale`.
template <class T, class Work>
void sum_separable(const Work& work, const Space& space, std::span<const Windows> terms, float scale = 1) {
  if (!space.empty())
    sum_separable<T>(SeparableWork{work.in[0], work.out[0], work.begin, work.end, work.launches, space, terms, scale});
}

}  // namespace avida
