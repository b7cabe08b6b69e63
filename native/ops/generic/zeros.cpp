#include "ops/generic/fill.h"

namespace avida::ops {

AVIDA_OP(zeros, FillArgs) {
  op.doc("Makes samples of a given shape that hold the number zero everywhere.")
      .example("avida.zeros(shape=[2, 3], dtype=avida.float32)");
  declare_constant<0>(op);
}

}  // namespace avida::ops
