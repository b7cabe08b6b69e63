#include "op/reduce.h"
#include "ops/reductions/fold.h"

namespace avida::ops {
namespace {

struct Mean {
  static constexpr bool has_dtype = true, has_ddof = false;
  template <class T>
  using Fold = AddUpWide<T>;
  static DType output(DType in) { return in == DType::float64 ? in : DType::float32; }
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long count, const ReduceArgs&) {
    return quotient<Out>(total, count);
  }
};

}  // namespace

AVIDA_OP_IN(reductions, mean, ReduceArgs) {
  op.doc("Takes the mean of the elements along the chosen axes; an integer `dtype` drops the fraction.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.mean(image, axis_names='HW')");
  reduce<Mean>(op);
}

}  // namespace avida::ops
