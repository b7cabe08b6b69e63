#include "ops/generic/fill.h"

namespace avida::ops {

AVIDA_OP(full_like, NoArgs) {
  op.doc("Makes samples like the given ones by repeating a fill value. It is converted to their element type.")
      .input("data_like", "The samples whose shape, element type and layout to take.")
      .input("fill_value", "A number, or an array that is repeated along the axes as NumPy broadcasts it.")
      .example("avida.full_like(image, 7)")
      .each_sample(
          [](Sample<NoArgs>& sample) {
            sample.out[0].shape = sample.in[0].shape;
            check_broadcast(sample.in[1].shape, sample.out[0].shape);
          },
          [](const Sample<NoArgs>& sample) { broadcast(sample, sample.in[1]); })
      .rows(count_filled_rows);
}

}  // namespace avida::ops
