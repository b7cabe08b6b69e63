#include "loops/reducing/reduce.h"
#include "ops/reductions/reducers.h"

namespace avida::ops {

AVIDA_OP_IN(reductions, rms, ReduceArgs) {
  op.doc("Computes the root mean square along the chosen axes. An integer `dtype` drops the fraction.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.rms(image, axes=[0, 1])");
  reduce<RootMeanSquare, reduction::real_dtype>(op);
}

}  // namespace avida::ops
