#include "ops/generic/reshape.h"

namespace avida::ops {

AVIDA_OP(reinterpret, ReshapeArgs) {
  op.doc("Reads the same bytes as elements of another type, shape or layout. Nothing is copied.")
      .input("data", "The samples to reinterpret.")
      .optional_input("shape_input", "The new shape, as with the argument shape.")
      .on_host()
      .arg("dtype", &ReshapeArgs::dtype,
           "The new element type. Without a shape, the last extent changes with its size.")
      .example("avida.reinterpret(np.float32([1, 2]), dtype=avida.uint8)");
  declare_new_shape(op);
}

}  // namespace avida::ops
