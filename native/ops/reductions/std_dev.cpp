#include "kernel/math.h"
#include "op/reduce.h"
#include "ops/reductions/fold.h"

namespace avida::ops {
namespace {

struct StdDev {
  static constexpr bool has_dtype = false, has_ddof = true;
  template <class T>
  using Fold = AddDistances<T>;
  static DType output(DType in) { return in == DType::float64 ? in : DType::float32; }
  template <class Out>
  AVIDA_HD static Out result(double total, long count, const ReduceArgs& args) {
    return convert<Out>(math::sqrt(total / static_cast<double>(count - args.ddof)));
  }
};

}  // namespace

AVIDA_OP_IN(reductions, std_dev, ReduceArgs) {
  op.doc("Takes the standard deviation, with respect to a given mean, along the chosen axes.")
      .input("data", "The samples to reduce.")
      .input("mean", "One mean for all, or one for each element of the result.")
      .example("avida.reductions.std_dev(image, avida.reductions.mean(image))");
  reduce<StdDev>(op);
}

}  // namespace avida::ops
