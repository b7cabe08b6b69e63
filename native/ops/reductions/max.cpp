#include "op/reduce.h"
#include "ops/reductions/fold.h"

namespace avida::ops {
namespace {

struct Max {
  static constexpr bool has_dtype = false, has_ddof = false;
  template <class T>
  using Fold = Greatest<T>;
  static DType output(DType in) { return in; }
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long count, const ReduceArgs&) {
    return count == 0 ? TypeTraits<Out>::lowest() : convert<Out>(total);
  }
};

}  // namespace

AVIDA_OP_IN(reductions, max, ReduceArgs) {
  op.doc(
        "Finds the greatest element along the chosen axes. NaN counts for nothing; of no elements, the result is the "
        "lowest number of the type.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.max(image, axes=[0, 1])");
  reduce<Max>(op);
}

}  // namespace avida::ops
