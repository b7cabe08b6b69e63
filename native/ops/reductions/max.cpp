#include "loops/reducing/reduce.h"
#include "ops/reductions/reducers.h"

namespace avida::ops {

AVIDA_OP_IN(reductions, max, ReduceArgs) {
  op.doc(
        "Finds the greatest element along the chosen axes. NaN is ignored; without elements, the result is the lowest "
        "number of the type.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.max(image, axes=[0, 1])");
  reduce<Maximum, reduction::same_dtype>(op);
}

}  // namespace avida::ops
