#include "ops/generic/fill.h"

namespace avida::ops {
namespace {

struct FullPlan : FillPlan {
  static void shape(Sample<FillArgs>& sample) {
    sample.out[0].shape = sample.args.shape ? shape_from_args(sample.args) : sample.in[0].shape;
    check_broadcast(sample.in[0].shape, sample.out[0].shape);
  }
  static void run(const Sample<FillArgs>& sample) { broadcast(sample, sample.in[0]); }
};

}  // namespace

AVIDA_OP(full, FillArgs) {
  op.doc("Makes samples of a given shape by repeating a fill value. They have its element type.")
      .input("fill_value", "A number, or an array that is repeated along the axes as NumPy broadcasts it.")
      .arg("layout", &FillArgs::layout, "One letter per axis.")
      .arg("shape", &FillArgs::shape, "The extents of the axes; by default those of the fill value.")
      .example("avida.full([1, 2, 3], shape=[2, 3])")
      .infer([](Infer<FillArgs>& call) { infer_from_shape(call, call.in[0].ndim); })
      .each_sample<FullPlan>();
}

}  // namespace avida::ops
