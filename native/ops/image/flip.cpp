// What users and the executor know about flip.
#include "ops/image/flip.h"

#include "op/op.h"

namespace avida::ops {

AVIDA_OP(flip, FlipArgs) {
  op.doc("Mirrors images, videos or volumes along the chosen axes.")
      .input("input", "The samples to mirror.", {"FDHWC", "FHWC", "DHWC", "HWC", "FCDHW", "FCHW", "CDHW", "CHW"})
      .arg("depthwise", &FlipArgs::depthwise, "Mirror front to back (D).")
      .arg("horizontal", &FlipArgs::horizontal, "Mirror left to right (W).")
      .arg("vertical", &FlipArgs::vertical, "Mirror top to bottom (H).")
      .example("avida.flip(image, horizontal=0, vertical=1)")
      .view_as("FDHWC")
      .each_element<Flip>()
      .chains();
}

}  // namespace avida::ops
