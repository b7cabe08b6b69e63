#include "ops/geometry/sphere.h"

#include "ops/geometry/displace.h"

namespace avida::ops {

AVIDA_OP(sphere, DisplaceArgs) {
  constexpr auto map = [](const Sample<DisplaceArgs>& sample) {
    const Shape& shape = sample.in[0].shape;
    const auto radius = static_cast<float>(std::max<int64_t>(1, std::max(shape[0], shape[1]) / 2));  // whole pixels
    return Sphere{{{static_cast<float>(shape[1]) / 2, static_cast<float>(shape[0]) / 2}}, radius};
  };
  displaces<map>(op)
      .doc("Shows images as if they were stretched over a ball.")
      .example("avida.sphere(image, interp_type=1)");
}

}  // namespace avida::ops
