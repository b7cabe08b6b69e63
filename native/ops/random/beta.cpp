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

// The blocks of elements that are attempted together, word by word.
struct Blocks {
  unsigned word[4][kTogether];

  AVIDA_INLINE PhiloxBlock at(int i) const { return {{word[0][i], word[1][i], word[2][i], word[3][i]}}; }
  AVIDA_INLINE void set(int i, const PhiloxBlock& block) {
    for (int k = 0; k < 4; k++) word[k][i] = block.word[k];
  }
};

AVIDA_CLONES void first_blocks(Blocks& blocks, RandomKey key, int64_t first) {
  for (int i = 0; i < kTogether; i++) blocks.set(i, random_block(key, static_cast<unsigned>(first + i)));
}
AVIDA_CLONES void attempt(Beta beta, const Blocks& __restrict blocks, double* __restrict out,
                          double* __restrict margins, int n) {
  for (int i = 0; i < n; i++) margins[i] = beta.attempt(blocks.at(i), out[i]);
}

void launch(const Sample<BetaArgs>& sample, const Beta& beta) {
  const SampleView& out = sample.out[0];
  auto launch = [&]<class T>() {
    sample.launches->add<BetaItem<T>>(0, out.elements(), {out.data, static_cast<int>(out.dtype), sample.random, beta});
  };
  if (out.dtype == DType::float32)
    launch.operator()<float>();
  else
    launch.operator()<AnyElement>();
}

// One block for each number; those for which it is not enough go on together, each from its own.
void draw(const Sample<BetaArgs>& sample) {
  const Beta beta(sample.args.alpha, sample.args.beta);
  if (sample.launches) return launch(sample, beta);
  fill_drawn<double>(sample.out[0], sample.begin, sample.end, [&](double* out, int64_t first, int64_t count) {
    for (int64_t done = 0; done < count; done += kTogether) {
      int n = static_cast<int>(std::min<int64_t>(kTogether, count - done));
      Blocks blocks;
      double drawn[kTogether], margins[kTogether];
      uint8_t places[kTogether];
      for (int i = 0; i < n; i++) places[i] = static_cast<uint8_t>(i);
      first_blocks(blocks, sample.random, first + done);
      while (n > 0) {
        attempt(beta, blocks, drawn, margins, n);
        int left = 0;
        for (int i = 0; i < n; i++) {
          out[done + places[i]] = drawn[i];
          if (margins[i] >= 0) continue;
          places[left] = places[i];
          blocks.set(left++, following_block(sample.random, blocks.at(i)));
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
      .cost(40)
      .on_gpu();
}

}  // namespace avida::ops
