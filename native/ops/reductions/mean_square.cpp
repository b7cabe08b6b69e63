#include "op/reduce.h"
#include "ops/reductions/reducers.h"

namespace avida::ops {

AVIDA_OP_IN(reductions, mean_square, ReduceArgs) {
  op.doc("Takes the mean of the squared elements along the chosen axes; an integer `dtype` drops the fraction.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.mean_square(image, axes=[0, 1])");
  reduce<MeanSquare, reduction::real_dtype>(op);
}

}  // namespace avida::ops
