// The arithmetic of sphere.
#pragma once
#include "kernel/math.h"
#include "kernel/warp.h"

namespace avida::ops {

struct Sphere {
  static constexpr int dims = 2;
  Place<2> middle;

  AVIDA_HD AVIDA_INLINE Place<2> operator()(const Place<2>& centre) const {
    float x = centre[0] - middle[0], y = centre[1] - middle[1];
    float radius = math::sqrt(x * x + y * y) / (middle[0] > middle[1] ? middle[0] : middle[1]);
    return {{middle[0] + radius * x, middle[1] + radius * y}};
  }
};

}  // namespace avida::ops
