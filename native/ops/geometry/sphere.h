// The arithmetic of sphere.
#pragma once
#include "device/math.h"
#include "loops/warping/warp_map.h"

namespace avida::ops {

struct Sphere {
  static constexpr const char* header = "ops/geometry/sphere.h";
  static constexpr int dims = 2;
  Place<2> middle;
  float radius;

  AVIDA_HD AVIDA_INLINE Place<2> operator()(const Place<2>& centre) const {
    float x = centre[0] - middle[0], y = centre[1] - middle[1];
    float factor = math::sqrt(x * x + y * y) / radius;
    return {{middle[0] + factor * x, middle[1] + factor * y}};
  }
};

}  // namespace avida::ops
