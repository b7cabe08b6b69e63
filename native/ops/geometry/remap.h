// The arithmetic of remap.
#pragma once
#include "kernel/warp.h"

namespace avida::ops {

struct Remap {
  static constexpr int dims = 2;
  const float *x, *y;  // for each pixel of the output
  long width;
  float origin;  // where (0, 0) lies from the corner of the first pixel

  AVIDA_HD AVIDA_INLINE Place<2> operator()(const Place<2>& centre) const {
    long i = static_cast<long>(centre[1]) * width + static_cast<long>(centre[0]);
    return {{x[i] + origin, y[i] + origin}};
  }
};

}  // namespace avida::ops
