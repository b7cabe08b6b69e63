#include "ops/random/tiles.h"

#include "core/clones.h"

namespace avida::ops {
namespace {

constexpr int kTile = 4 * kLanes;

// The indices of one tile; true when a word has to be rejected.
AVIDA_CLONES bool draw_tile(int64_t* out, const RandomKey& key, int64_t tile, unsigned count, unsigned surplus) {
  const PhiloxTile words(key, tile);
  unsigned rejected = 0;
  for (int i = 0; i < 4; i++)
    for (int lane = 0; lane < kLanes; lane++) {
      unsigned long product = static_cast<unsigned long>(words.word[i][lane]) * count;
      out[i * kLanes + lane] = static_cast<int64_t>(product >> 32);
      rejected |= static_cast<unsigned>(product) < surplus;
    }
  return rejected;
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

}  // namespace

AVIDA_CLONES void draw_numbers(float* out, const RandomKey& key, int64_t first, int64_t n, const Uniform<float>& draw) {
  draw_run(out, key, first, n, draw);
}
AVIDA_CLONES void draw_numbers(double* out, const RandomKey& key, int64_t first, int64_t n,
                               const Uniform<double>& draw) {
  draw_run(out, key, first, n, draw);
}
AVIDA_CLONES void draw_numbers(float* out, const RandomKey& key, int64_t first, int64_t n, const Normal<float>& draw) {
  draw_run(out, key, first, n, draw);
}
AVIDA_CLONES void draw_numbers(double* out, const RandomKey& key, int64_t first, int64_t n,
                               const Normal<double>& draw) {
  draw_run(out, key, first, n, draw);
}
AVIDA_CLONES void draw_numbers(int* out, const RandomKey& key, int64_t first, int64_t n, const CoinFlip& draw) {
  draw_run(out, key, first, n, draw);
}
AVIDA_CLONES void draw_numbers(double* out, const RandomKey& key, int64_t first, int64_t n, const Units& draw) {
  draw_run(out, key, first, n, draw);
}

void draw_numbers(double* out, const RandomKey& key, int64_t first, int64_t n, const Chosen& draw) {
  int64_t indices[kDrawRow];
  draw_indices(indices, key, first, n, draw.count);
  for (int64_t i = 0; i < n; i++) out[i] = draw.numbers[indices[i]];
}

// One block for each number. Rejected attempts are repeated together, each from its own block.
void draw_numbers(double* out, const RandomKey& key, int64_t first, int64_t n, const Beta& draw) {
  for (int64_t done = 0; done < n; done += kTogether) {
    int count = static_cast<int>(std::min<int64_t>(kTogether, n - done));
    Blocks blocks;
    double drawn[kTogether], margins[kTogether];
    uint8_t positions[kTogether];
    for (int i = 0; i < count; i++) positions[i] = static_cast<uint8_t>(i);
    first_blocks(blocks, key, first + done);
    while (count > 0) {
      attempt(draw, blocks, drawn, margins, count);
      int rejected = 0;
      for (int i = 0; i < count; i++) {
        out[done + positions[i]] = drawn[i];
        if (margins[i] >= 0) continue;
        positions[rejected] = positions[i];
        blocks.set(rejected++, following_block(key, blocks.at(i)));
      }
      count = rejected;
    }
  }
}

void draw_indices(int64_t* out, const RandomKey& key, int64_t first, int64_t n, int64_t count) {
  if (count > UINT32_MAX) {
    for (int64_t i = 0; i < n; i++) out[i] = below(count, key, random_block(key, static_cast<unsigned>(first + i)));
    return;
  }
  const auto few = static_cast<unsigned>(count), surplus = (0u - few) % few;
  for (int64_t done = 0; done < n; done += kTile) {
    int64_t drawn[kTile];
    const int64_t tile = (first + done) / kTile;
    if (draw_tile(drawn, key, tile, few, surplus)) {
      const PhiloxTile words(key, tile);
      for (int i = 0; i < kTile; i++) drawn[i] = below(few, surplus, key, words.block(i % kLanes), i / kLanes);
    }
    std::copy_n(drawn, std::min<int64_t>(kTile, n - done), out + done);
  }
}

}  // namespace avida::ops
