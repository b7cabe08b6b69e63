#include "loops/moving/convert_elements.h"
#include "operator/declare.h"

namespace avida::ops {

AVIDA_OP(cast_like, NoArgs) {
  op.doc("Converts the first input to the element type of the second, as cast does.")
      .input("input_0", "The samples to convert.")
      .input("input_1", "The samples whose element type to take.")
      .example("avida.cast_like(image, np.float32(0))")
      .infer([](Infer<NoArgs>& call) { call.out[0].dtype = call.in[1].dtype; })
      .each_sample<ElementConversion>();
}

}  // namespace avida::ops
