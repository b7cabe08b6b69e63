#include "op/reduce.h"
#include "ops/reductions/fold.h"

namespace avida::ops {
namespace {

struct MeanSquare {
  static constexpr bool has_dtype = true, has_ddof = false;
  template <class T>
  using Fold = AddSquares<T>;
  static DType output(DType in) { return in == DType::float64 ? in : DType::float32; }
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long count, const ReduceArgs&) {
    return quotient<Out>(total, count);
  }
};

}  // namespace

AVIDA_OP_IN(reductions, mean_square, ReduceArgs) {
  op.doc("Takes the mean of the squared elements along the chosen axes; an integer `dtype` drops the fraction.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.mean_square(image, axes=[0, 1])");
  reduce<MeanSquare>(op);
}

}  // namespace avida::ops
