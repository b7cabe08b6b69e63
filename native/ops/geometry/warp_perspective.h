// The arithmetic of warp_perspective.
#pragma once
#include "loops/warping/warp_map.h"

namespace avida::ops {

struct Perspective {
  static constexpr const char* header = "ops/geometry/warp_perspective.h";
  static constexpr int dims = 2;
  float m[3][3];
  float origin;  // where (0, 0) lies from the corner of the first pixel

  AVIDA_HD AVIDA_INLINE Place<2> operator()(const Place<2>& centre) const {
    float x = centre[0] - origin, y = centre[1] - origin, to[3];
    for (int r = 0; r < 3; r++) to[r] = m[r][0] * x + m[r][1] * y + m[r][2];
    return {{to[0] / to[2] + origin, to[1] / to[2] + origin}};
  }
};

}  // namespace avida::ops
