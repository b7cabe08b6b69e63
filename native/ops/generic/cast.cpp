#include "ops/generic/cast.h"

namespace avida::ops {
namespace {

struct CastArgs {
  DType dtype = DType::none;
};

}  // namespace

AVIDA_OP(cast, CastArgs) {
  op.doc("Converts elements to another type, with saturation; floats become integers by rounding half away from zero.")
      .input("input", "The samples to convert.")
      .arg("dtype", &CastArgs::dtype, "The element type to convert to.", required)
      .example("avida.cast(image, dtype=avida.float32)")
      .infer([](Infer<CastArgs>& call) { call.out[0].dtype = call.args.dtype; });
  converts_elements(op);
}

}  // namespace avida::ops
