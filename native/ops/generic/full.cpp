#include "ops/generic/fill.h"

namespace avida::ops {

AVIDA_OP(full, FillArgs) {
  op.doc("Makes samples of a given shape by repeating a fill value, whose element type they have.")
      .input("fill_value", "A number, or an array that is repeated along the axes in the manner of NumPy.")
      .arg("layout", &FillArgs::layout, "One letter per axis.")
      .arg("shape", &FillArgs::shape, "The extents of the axes; a single number without them.")
      .example("avida.full([1, 2, 3], shape=[2, 3])")
      .infer([](Infer<FillArgs>& call) { infer_from_shape(call); })
      .each_sample(
          [](Sample<FillArgs>& sample) {
            shape_from_args(sample);
            check_repeatable(sample.in[0].shape, sample.out[0].shape);
          },
          [](const Sample<FillArgs>& sample) {
            fill_rows_from(sample.out[0], sample.begin, sample.end, sample.launches, sample.in[0]);
          })
      .rows(count_fill_rows)
      .on_gpu();
}

}  // namespace avida::ops
