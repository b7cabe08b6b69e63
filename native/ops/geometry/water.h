// The arithmetic of water.
#pragma once
#include "device/math.h"
#include "loops/warping/warp_map.h"

namespace avida::ops {

struct Wave {
  float amplitude, frequency, phase;
};

struct Water {
  static constexpr const char* header = "ops/geometry/water.h";
  static constexpr int dims = 2;
  Wave x, y;

  // The waves, and the pixels they shift, are counted from the corner of the first pixel, not from its centre.
  AVIDA_HD AVIDA_INLINE Place<2> operator()(const Place<2>& centre) const {
    float column = centre[0] - 0.5f, row = centre[1] - 0.5f;
    return {{column + x.amplitude * math::sin(x.frequency * row + x.phase),
             row + y.amplitude * math::cos(y.frequency * column + y.phase)}};
  }
};

}  // namespace avida::ops
