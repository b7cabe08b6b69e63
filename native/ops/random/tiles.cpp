#include "ops/random/tiles.h"

#include "core/clones.h"

namespace avida::ops {
namespace {

constexpr int kTile = 4 * kLanes;

// The indices of one tile; true when a word was among those to be thrown away.
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

}  // namespace

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
