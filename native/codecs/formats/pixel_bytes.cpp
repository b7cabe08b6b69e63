#include "codecs/formats/pixel_bytes.h"

#include "core/vectors.h"

// Vectors of 16 bytes, which every machine has: memory is no faster with larger ones.
#include <hwy/highway.h>

namespace avida::codecs {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <int stored>
void pick(const uint8_t* from, bool reversed, uint8_t* to, int64_t pixels) {
  constexpr int kPixels = 16 / stored;  // of a vector; what it writes beyond them is overwritten
  const hn::Full128<uint8_t> bytes;
  alignas(16) uint8_t order[16] = {};
  for (int i = 0; i < 3 * kPixels; ++i)
    order[i] = static_cast<uint8_t>(i / 3 * stored + (reversed ? 2 - i % 3 : i % 3));
  const auto picked = hn::Load(bytes, order);
  int64_t x = 0;
  for (; x + 6 <= pixels; x += kPixels)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(bytes, from + x * stored), picked), bytes, to + 3 * x);
  for (; x < pixels; ++x)
    for (int c = 0; c < 3; ++c) to[3 * x + c] = from[x * stored + (reversed ? 2 - c : c)];
}

}  // namespace

void pick_colors(const uint8_t* from, int stored, bool reversed, uint8_t* to, int64_t pixels) {
  (stored == 3 ? pick<3> : pick<4>)(from, reversed, to, pixels);
}

}  // namespace avida::codecs
