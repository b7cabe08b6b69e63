#include <cmath>

#include "core/clones.h"
#include "ops/random/random.h"

namespace avida::ops {
namespace {

struct BetaArgs : DrawArgs {
  double alpha = 1, beta = 1;
};

void check(Sample<BetaArgs>& sample) {
  auto check_positive = [](double number, const char* name) {
    if (!(number > 0 && std::isfinite(number)))
      fail(ErrorKind::runtime, "expected a positive number for \"", name, "\", got ", number);
  };
  check_positive(sample.args.alpha, "alpha");
  check_positive(sample.args.beta, "beta");
  sample.out[0].shape = drawn_shape(sample.args.shape, sample.in[0]);
}

constexpr int kTogether = 256;  // elements

AVIDA_CLONES void first_blocks(PhiloxBlock* blocks, const RandomKey& key, int64_t first, int n) {
  for (int i = 0; i < n; i++) blocks[i] = random_block(key, static_cast<unsigned>(first + i));
}
AVIDA_CLONES void attempt(const Beta& beta, const PhiloxBlock* blocks, double* out, uint8_t* accepted, int n) {
  for (int i = 0; i < n; i++) accepted[i] = beta(blocks[i], out[i]);
}

// One block for each number; those for which it is not enough go on together, each from its own.
void draw(const Sample<BetaArgs>& sample) {
  const Beta beta(sample.args.alpha, sample.args.beta);
  fill_drawn<double>(sample.out[0], sample.begin, sample.end, [&](double* out, int64_t first, int64_t count) {
    for (int64_t done = 0; done < count; done += kTogether) {
      int n = static_cast<int>(std::min<int64_t>(kTogether, count - done));
      PhiloxBlock blocks[kTogether];
      double drawn[kTogether];
      uint8_t accepted[kTogether], places[kTogether];
      for (int i = 0; i < n; i++) places[i] = static_cast<uint8_t>(i);
      first_blocks(blocks, sample.random, first + done, n);
      while (n > 0) {
        attempt(beta, blocks, drawn, accepted, n);
        int left = 0;
        for (int i = 0; i < n; i++) {
          out[done + places[i]] = drawn[i];
          if (accepted[i]) continue;
          places[left] = places[i];
          blocks[left++] = following_block(sample.random, blocks[i]);
        }
        n = left;
      }
    }
  });
}

}  // namespace

AVIDA_OP_IN(random, beta, BetaArgs) {
  op.doc("Draws numbers from 0 to 1 that follow a beta distribution.")
      .optional_input("shape_like", kShapeLikeText)
      .arg("alpha", &BetaArgs::alpha, "A positive number; the larger, the nearer to 1 the results are.")
      .arg("beta", &BetaArgs::beta, "A positive number; the larger, the nearer to 0 the results are.")
      .arg("dtype", &BetaArgs::dtype, "The element type, a float one; `float32` by default.")
      .arg("shape", &BetaArgs::shape, kShapeText)
      .example("avida.random.beta(alpha=0.2, beta=0.2, shape=[4])")
      .random()
      .infer([](Infer<BetaArgs>& call) {
        infer_drawn(call, DType::float32);
        if (!is_float(call.out[0].dtype))
          fail(ErrorKind::runtime, "expected a float type as \"dtype\", got ", call.out[0].dtype);
      })
      .each_sample(check, draw)
      .rows(count_draw_rows)
      .cost(40);
}

}  // namespace avida::ops
