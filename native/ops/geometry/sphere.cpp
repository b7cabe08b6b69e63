#include "ops/geometry/sphere.h"

#include "ops/geometry/displace.h"

namespace avida::ops {

AVIDA_OP(sphere, DisplaceArgs) {
  constexpr auto map = [](const Sample<DisplaceArgs>& sample) {
    const Shape& shape = sample.in[0].shape;
    return Sphere{{{static_cast<float>(shape[1]) / 2, static_cast<float>(shape[0]) / 2}}};
  };
  displaces<map>(op)
      .doc("Shows images as if they were stretched over a ball.")
      .example("avida.sphere(image, interp_type=1)");
}

}  // namespace avida::ops
