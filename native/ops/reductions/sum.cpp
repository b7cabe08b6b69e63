#include "loops/reducing/reduce.h"
#include "ops/reductions/reducers.h"

namespace avida::ops {
namespace {

DType sum_dtype(DType in) {
  if (is_float(in)) return reduction::real_dtype(in);
  return is_signed(in) ? DType::int64 : DType::uint64;
}

}  // namespace

AVIDA_OP_IN(reductions, sum, ReduceArgs) {
  op.doc("Adds up the elements along the chosen axes.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.sum(image, axes=[0, 1])");
  reduce<Sum, sum_dtype>(op);
}

}  // namespace avida::ops
