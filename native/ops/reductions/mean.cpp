#include "loops/reducing/reduce.h"
#include "ops/reductions/reducers.h"

namespace avida::ops {

AVIDA_OP_IN(reductions, mean, ReduceArgs) {
  op.doc("Computes the mean along the chosen axes. An integer `dtype` drops the fraction.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.mean(image, axis_names='HW')");
  reduce<Mean, reduction::real_dtype>(op);
}

}  // namespace avida::ops
