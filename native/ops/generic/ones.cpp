#include "ops/generic/fill.h"

namespace avida::ops {

AVIDA_OP(ones, FillArgs) {
  op.doc("Makes samples of a given shape that hold the number one everywhere.")
      .example("avida.ones(shape=[2, 3], dtype=avida.float32)");
  declare_constant<1>(op);
}

}  // namespace avida::ops
