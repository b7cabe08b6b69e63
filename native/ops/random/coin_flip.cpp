#include <cmath>

#include "core/clones.h"
#include "ops/random/random.h"

namespace avida::ops {
namespace {

struct CoinFlipArgs : DrawArgs {
  double probability = 0.5;
};

AVIDA_CLONES void draw(int* out, const RandomKey& key, int64_t first, int64_t n, const CoinFlip& coin) {
  draw_run(out, key, first, n, coin);
}

void flip_coins(const Sample<CoinFlipArgs>& sample) {
  // NaN counts as 0.
  const double probability = sample.args.probability > 0 ? std::min(sample.args.probability, 1.) : 0;
  const CoinFlip coin{static_cast<uint64_t>(std::round(probability * 0x1p32))};
  if (sample.launches) return launch_draw(sample, coin);
  fill_drawn<int>(sample.out[0], sample.begin, sample.end,
                  [&](int* out, int64_t first, int64_t n) { draw(out, sample.random, first, n, coin); });
}

}  // namespace

AVIDA_OP_IN(random, coin_flip, CoinFlipArgs) {
  op.doc("Draws ones with a given probability, and zeros otherwise.")
      .optional_input("shape_like", kShapeLikeText)
      .arg("dtype", &CoinFlipArgs::dtype, "The element type, `int32` by default.")
      .arg("probability", &CoinFlipArgs::probability, "How likely a one is.")
      .arg("shape", &CoinFlipArgs::shape, kShapeText)
      .example("avida.flip(batch, horizontal=avida.random.coin_flip(like=batch))")
      .random()
      .infer([](Infer<CoinFlipArgs>& call) { infer_drawn(call, DType::int32); })
      .each_sample(
          [](Sample<CoinFlipArgs>& sample) { sample.out[0].shape = drawn_shape(sample.args.shape, sample.in[0]); },
          flip_coins)
      .rows(count_draw_rows)
      .cost(2)
      .on_gpu();
}

}  // namespace avida::ops
