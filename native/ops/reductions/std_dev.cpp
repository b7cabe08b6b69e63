#include "loops/reducing/reduce.h"
#include "ops/reductions/reducers.h"

namespace avida::ops {

AVIDA_OP_IN(reductions, std_dev, ReduceArgs) {
  op.doc("Computes the standard deviation from a given mean along the chosen axes.")
      .input("data", "The samples to reduce.")
      .input("mean", "One mean for all, or one for each element of the result.")
      .example("avida.reductions.std_dev(image, avida.reductions.mean(image))");
  reduce<StdDev, reduction::real_dtype>(op);
}

}  // namespace avida::ops
