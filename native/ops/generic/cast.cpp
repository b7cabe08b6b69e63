#include "loops/moving/convert_elements.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct CastArgs {
  DType dtype = DType::none;
};

}  // namespace

AVIDA_OP(cast, CastArgs) {
  op.doc("Converts elements to another type, with saturation. Floats become integers by rounding half away from zero.")
      .takes_enums()
      .passes_numbers()
      .input("input", "The samples to convert.")
      .arg("dtype", &CastArgs::dtype, "The element type to convert to.", required)
      .example("avida.cast(image, dtype=avida.float32)")
      .infer([](Infer<CastArgs>& call) { call.out[0].dtype = call.args.dtype; })
      .each_sample<ElementConversion>();
}

}  // namespace avida::ops
