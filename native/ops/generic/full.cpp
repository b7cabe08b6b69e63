#include "ops/generic/fill.h"

namespace avida::ops {

AVIDA_OP(full, FillArgs) {
  op.doc("Makes samples of a given shape by repeating a fill value. They have its element type.")
      .input("fill_value", "A number, or an array that is repeated along the axes as NumPy broadcasts it.")
      .arg("layout", &FillArgs::layout, "One letter per axis.")
      .arg("shape", &FillArgs::shape, "The extents of the axes; a single number without them.")
      .example("avida.full([1, 2, 3], shape=[2, 3])")
      .infer(infer_from_shape)
      .each_sample(
          [](Sample<FillArgs>& sample) {
            shape_from_args(sample);
            check_broadcast(sample.in[0].shape, sample.out[0].shape);
          },
          [](const Sample<FillArgs>& sample) { broadcast(sample, sample.in[0]); })
      .rows(count_filled_rows);
}

}  // namespace avida::ops
