#include <cmath>

#include "ops/random/random.h"

namespace avida::ops {
namespace {

struct CoinFlipArgs : DrawArgs {
  double probability = 0.5;
};

struct CoinFlipPlan : DrawPlan {
  void run(const Sample<CoinFlipArgs>& sample) const {
    // NaN counts as 0.
    const double probability = sample.args.probability > 0 ? std::min(sample.args.probability, 1.) : 0;
    draw(sample, CoinFlip{static_cast<uint64_t>(std::round(probability * 0x1p32))});
  }
};

}  // namespace

AVIDA_OP_IN(random, coin_flip, CoinFlipArgs) {
  op.doc("Draws ones with a given probability, and zeros otherwise.")
      .optional_input("shape_like", kShapeLikeText)
      .arg("dtype", &CoinFlipArgs::dtype, "The element type, `int32` by default.")
      .arg("probability", &CoinFlipArgs::probability, "The probability of a one.")
      .arg("shape", &CoinFlipArgs::shape, kShapeText)
      .example("avida.flip(batch, horizontal=avida.random.coin_flip(like=batch))")
      .draws_numbers()
      .infer([](Infer<CoinFlipArgs>& call) { infer_drawn(call, DType::int32); })
      .each_sample<CoinFlipPlan>()
      .cost(2);
}

}  // namespace avida::ops
