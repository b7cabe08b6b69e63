#include "ops/generic/fill.h"

namespace avida::ops {

AVIDA_OP(zeros_like, FillLikeArgs) {
  op.doc("Makes samples like the given ones that hold the number zero everywhere.").example("avida.zeros_like(batch)");
  declare_constant_like<0>(op);
}

}  // namespace avida::ops
