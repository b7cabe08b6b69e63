#include "loops/reducing/reduce.h"
#include "ops/reductions/reducers.h"

namespace avida::ops {

AVIDA_OP_IN(reductions, mean_square, ReduceArgs) {
  op.doc("Computes the mean of the squares along the chosen axes. An integer `dtype` drops the fraction.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.mean_square(image, axes=[0, 1])");
  reduce<MeanSquare, reduction::real_dtype>(op);
}

}  // namespace avida::ops
