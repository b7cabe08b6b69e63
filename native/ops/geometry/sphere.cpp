#include "ops/geometry/sphere.h"

#include "ops/geometry/displace.h"
#include "ops/scenes/bends.h"

namespace avida::ops {
namespace {

Sphere sphere_of(const Sample<DisplaceArgs>& sample) {
  const int64_t width = extent_of(sample.in[0], 0), height = extent_of(sample.in[0], 1);
  const auto radius = static_cast<float>(std::max<int64_t>(1, std::max(height, width) / 2));  // whole pixels
  return {{{static_cast<float>(width) / 2, static_cast<float>(height) / 2}}, radius};
}
using SpherePlan = Displacement<sphere_of, DisplaceArgs>;

}  // namespace

AVIDA_OP(sphere, DisplaceArgs) {
  displaces<sphere_of>(op)
      .doc("Shows images as if they were stretched over a ball.")
      .example("avida.sphere(image, interp_type=1)");
}

AVIDA_BENDS(sphere, DisplaceArgs, SpherePlan)

}  // namespace avida::ops
