#include "loops/reducing/reduce.h"
#include "ops/reductions/reducers.h"

namespace avida::ops {

AVIDA_OP_IN(reductions, min, ReduceArgs) {
  op.doc(
        "Finds the least element along the chosen axes. NaN is ignored; without elements, the result is the highest "
        "number of the type.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.min(image, axes=[0, 1])");
  reduce<Minimum, reduction::same_dtype>(op);
}

}  // namespace avida::ops
