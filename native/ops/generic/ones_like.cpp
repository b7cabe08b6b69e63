#include "ops/generic/fill.h"

namespace avida::ops {

AVIDA_OP(ones_like, FillLikeArgs) {
  op.doc("Makes samples like the given ones that hold the number one everywhere.").example("avida.ones_like(batch)");
  declare_constant_like<1>(op);
}

}  // namespace avida::ops
