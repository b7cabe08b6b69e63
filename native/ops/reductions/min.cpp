#include "op/reduce.h"
#include "ops/reductions/fold.h"

namespace avida::ops {
namespace {

struct Min {
  static constexpr bool has_dtype = false, has_ddof = false;
  template <class T>
  using Fold = Least<T>;
  static DType output(DType in) { return in; }
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long count, const ReduceArgs&) {
    return count == 0 ? TypeTraits<Out>::highest() : convert<Out>(total);
  }
};

}  // namespace

AVIDA_OP_IN(reductions, min, ReduceArgs) {
  op.doc(
        "Finds the least element along the chosen axes. NaN counts for nothing; of no elements, the result is the "
        "highest number of the type.")
      .input("input", "The samples to reduce.")
      .example("avida.reductions.min(image, axes=[0, 1])");
  reduce<Min>(op);
}

}  // namespace avida::ops
