#include "ops/generic/fill.h"

namespace avida::ops {

AVIDA_OP(full, FillArgs) {
  op.doc("Makes samples of a given shape by repeating a fill value. They have its element type.")
      .input("fill_value", "A number, or an array that is repeated along the axes as NumPy broadcasts it.")
      .arg("layout", &FillArgs::layout, "One letter per axis.")
      .arg("shape", &FillArgs::shape, "The extents of the axes; by default those of the fill value.")
      .example("avida.full([1, 2, 3], shape=[2, 3])")
      .infer([](Infer<FillArgs>& call) { infer_from_shape(call, call.in[0].ndim); })
      .each_sample(
          [](Sample<FillArgs>& sample) {
            shape_from_args(sample);
            if (!sample.args.shape) sample.out[0].shape = sample.in[0].shape;
            check_broadcast(sample.in[0].shape, sample.out[0].shape);
          },
          [](const Sample<FillArgs>& sample) { broadcast(sample, sample.in[0]); })
      .rows(count_filled_rows);
}

}  // namespace avida::ops
