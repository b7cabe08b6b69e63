#include "ops/generic/fill.h"

namespace avida::ops {

AVIDA_OP(full_like, NoArgs) {
  op.doc("Makes samples like the given ones by repeating a fill value, which is converted to their element type.")
      .input("data_like", "The samples whose shape, element type and layout to take.")
      .input("fill_value", "A number, or an array that is repeated along the axes in the manner of NumPy.")
      .example("avida.full_like(image, 7)")
      .each_sample(
          [](Sample<NoArgs>& sample) {
            sample.out[0].shape = sample.in[0].shape;
            check_repeatable(sample.in[1].shape, sample.out[0].shape);
          },
          [](const Sample<NoArgs>& sample) {
            fill_rows_from(sample.out[0], sample.begin, sample.end, sample.launches, sample.in[1]);
          })
      .rows(count_fill_rows)
      .on_gpu();
}

}  // namespace avida::ops
