#include "op/reduce.h"
#include "ops/reductions/reducers.h"

namespace avida::ops {

AVIDA_OP_IN(reductions, mean, ReduceArgs) {
  op.doc("Takes the mean of the elements along the chosen axes; an integer `dtype` drops the fraction.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.mean(image, axis_names='HW')");
  reduce<Mean, reduction::real_dtype>(op);
}

}  // namespace avida::ops
