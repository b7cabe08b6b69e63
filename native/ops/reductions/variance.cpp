#include "loops/reducing/reduce.h"
#include "ops/reductions/reducers.h"

namespace avida::ops {

AVIDA_OP_IN(reductions, variance, ReduceArgs) {
  op.doc("Takes the mean squared distance from a given mean along the chosen axes.")
      .input("data", "The samples to reduce.")
      .input("mean", "One mean for all, or one for each element of the result.")
      .example("avida.reductions.variance(image, avida.reductions.mean(image))");
  reduce<Variance, reduction::real_dtype>(op);
}

}  // namespace avida::ops
