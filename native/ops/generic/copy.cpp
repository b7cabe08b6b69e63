#include "loops/moving/strided_move.h"
#include "operator/declare.h"

namespace avida::ops {

AVIDA_OP(copy, NoArgs) {
  op.doc("Copies the samples into memory of their own.")
      .takes_enums()
      .input("input", "The samples to copy.")
      .example("avida.copy(image)")
      .each_sample(same_shape,
                   [](const Sample<NoArgs>& sample) {
                     DenseMove(sample.out[0].bytes()).run(sample, sample.out[0].data, sample.in[0].data);
                   })
      .rows([](const Sample<NoArgs>& sample) { return DenseMove(sample.out[0].bytes()).rows(); });
}

}  // namespace avida::ops
