// The arithmetic of remap.
#pragma once
#include "loops/warping/warp_map.h"

namespace avida::ops {

struct Remap {
  static constexpr const char* header = "ops/geometry/remap.h";
  static constexpr int dims = 2;
  const float *x, *y;  // for each pixel of the output
  long width;
  float origin;  // where (0, 0) lies from the corner of the first pixel

  AVIDA_HD AVIDA_INLINE Place<2> operator()(const Place<2>& centre) const {
    const long i = static_cast<unsigned>(centre[1]) * width + static_cast<unsigned>(centre[0]);
    return {{x[i] + origin, y[i] + origin}};
  }
  // n pixels of a row at once.
  AVIDA_HD AVIDA_INLINE void row(float* to_x, float* to_y, int n, long column, long line) const {
    for (long i = 0, first = line * width + column; i < n; i++) {
      to_x[i] = x[first + i] + origin;
      to_y[i] = y[first + i] + origin;
    }
  }
};

}  // namespace avida::ops
