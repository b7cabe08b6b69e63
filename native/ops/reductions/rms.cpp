#include "kernel/math.h"
#include "op/reduce.h"
#include "ops/reductions/fold.h"

namespace avida::ops {
namespace {

struct RootMeanSquare {
  static constexpr bool has_dtype = true, has_ddof = false;
  template <class T>
  using Fold = AddSquares<T>;
  static DType output(DType in) { return in == DType::float64 ? in : DType::float32; }
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long count, const ReduceArgs&) {
    return from_real<Out>(math::sqrt(static_cast<double>(total) / static_cast<double>(count)));
  }
};

}  // namespace

AVIDA_OP_IN(reductions, rms, ReduceArgs) {
  op.doc("Takes the root of the mean square along the chosen axes; an integer `dtype` drops the fraction.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.rms(image, axes=[0, 1])");
  reduce<RootMeanSquare>(op);
}

}  // namespace avida::ops
