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
    return {{centre[0] - 0.5f + shift_right(centre[1]), centre[1] - 0.5f + shift_down(centre[0])}};
  }
  // How far a row is shifted to the right, and a column down.
  AVIDA_HD AVIDA_INLINE float shift_right(float row_centre) const {
    return x.amplitude * math::sin(x.frequency * (row_centre - 0.5f) + x.phase);
  }
  AVIDA_HD AVIDA_INLINE float shift_down(float column_centre) const {
    return y.amplitude * math::cos(y.frequency * (column_centre - 0.5f) + y.phase);
  }
};

}  // namespace avida::ops
