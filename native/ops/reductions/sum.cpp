#include "op/reduce.h"
#include "ops/reductions/fold.h"

namespace avida::ops {
namespace {

struct Sum {
  static constexpr bool has_dtype = true, has_ddof = false;
  template <class T>
  using Fold = AddUp<T>;
  static DType output(DType in) {
    if (is_float(in)) return in == DType::float64 ? in : DType::float32;
    return is_signed(in) ? DType::int64 : DType::uint64;
  }
  // A narrow integer type takes the lowest bits of an integer sum.
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long, const ReduceArgs&) {
    if constexpr (same_type<Total, double>)
      return from_real<Out>(total);
    else if constexpr (TypeTraits<Out>::is_float)
      return convert<Out>(static_cast<double>(total));
    else
      return static_cast<Out>(total);
  }
};

}  // namespace

AVIDA_OP_IN(reductions, sum, ReduceArgs) {
  op.doc("Adds up the elements along the chosen axes.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.sum(image, axes=[0, 1])");
  reduce<Sum>(op);
}

}  // namespace avida::ops
