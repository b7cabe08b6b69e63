#include "op/warp_tile.h"

#include <cstring>

#include "core/clones.h"

namespace avida {
namespace {

AVIDA_CLONES void locate_line(const float* __restrict at, int n, float shift, float low, float high, int last,
                              int* __restrict index, float* __restrict part, uint8_t* __restrict inside) {
  for (int i = 0; i < n; i++) {
    float x = at[i] - shift;
    x = x > low ? x : low;
    x = x < high ? x : high;
    int whole = static_cast<int>(x);
    whole -= x < static_cast<float>(whole);
    index[i] = whole;
    part[i] = x - static_cast<float>(whole);
    inside[i] &= static_cast<uint8_t>((whole >= 0) & (whole < last));
  }
}

// Of each pixel of a tile the four around it in the input, their channels in the bytes of a word.
struct Corners {
  alignas(64) uint32_t word[4][kTileSize];
};

template <int bytes>
AVIDA_INLINE uint32_t load(const uint8_t* pixel) {
  uint32_t word = 0;
  std::memcpy(&word, pixel, bytes);
  return word;
}

// A function of its own: the loop over pixels that lie inside stays small.
template <int channels>
__attribute__((noinline)) void collect_at_border(const Texture<uint8_t, 2>& in, const Located& found, int i,
                                                 Corners& corners) {
  const int first[] = {found.index[0][i], found.index[1][i]};
  if (is_beyond(in, first)) {
    for (int k = 0; k < 4; k++) corners.word[k][i] = load<channels>(in.fill);
    return;
  }
  const uint8_t* corner[4];
  find_corners<2>(in, first, corner);
  for (int k = 0; k < 4; k++) corners.word[k][i] = load<channels>(corner[k]);
}

template <int channels>
void collect(const Texture<uint8_t, 2>& in, const Located& found, Corners& corners) {
  constexpr int bytes = channels == 3 ? 4 : channels;  // one too many is there, and does not matter
  const uint8_t* data = in.data;
  const int64_t down = in.stride[1];
  for (int i = 0; i < found.n; i++) {
    if (!found.inside[i]) {
      collect_at_border<channels>(in, found, i, corners);
      continue;
    }
    const uint8_t *top = data + found.index[1][i] * down + found.index[0][i] * channels, *bottom = top + down;
    corners.word[0][i] = load<bytes>(top);
    corners.word[1][i] = load<bytes>(top + channels);
    corners.word[2][i] = load<bytes>(bottom);
    corners.word[3][i] = load<bytes>(bottom + channels);
  }
}

template <int channels>
AVIDA_INLINE void blend(const Located& found, const Corners& corners, uint32_t* __restrict out) {
  for (int i = 0; i < found.n; i++) {
    uint32_t pixel = 0;
    for (int c = 0; c < channels; c++) {
      float value[4];
      for (int k = 0; k < 4; k++) value[k] = static_cast<float>(static_cast<int>(corners.word[k][i] >> 8 * c & 255));
      const float qx = found.part[0][i], qy = found.part[1][i];
      float mixed = mix(mix(value[0], value[1], qx), mix(value[2], value[3], qx), qy);
      pixel |= static_cast<uint32_t>(static_cast<int>(mixed + FloatBits<float>::below_half)) << 8 * c;  // as convert()
    }
    out[i] = pixel;
  }
}
AVIDA_CLONES void blend_1(const Located& found, const Corners& corners, uint32_t* out) {
  blend<1>(found, corners, out);
}
AVIDA_CLONES void blend_3(const Located& found, const Corners& corners, uint32_t* out) {
  blend<3>(found, corners, out);
}
AVIDA_CLONES void blend_4(const Located& found, const Corners& corners, uint32_t* out) {
  blend<4>(found, corners, out);
}

template <int channels>
bool look_up_tile(const Texture<uint8_t, 2>& in, const Located& found, uint8_t* out,
                  void (*blend_pixels)(const Located&, const Corners&, uint32_t*)) {
  Corners corners;
  uint32_t pixels[kTileSize];
  collect<channels>(in, found, corners);
  blend_pixels(found, corners, pixels);
  if (channels == 4) {
    std::memcpy(out, pixels, 4 * found.n);
    return true;
  }
  // All but the last may write a byte too many, which the next one overwrites.
  for (int i = 0; i + 1 < found.n; i++)
    if (channels == 1)
      out[i] = static_cast<uint8_t>(pixels[i]);
    else
      std::memcpy(out + i * channels, &pixels[i], 4);
  std::memcpy(out + (found.n - 1) * channels, &pixels[found.n - 1], channels);
  return true;
}

}  // namespace

void locate_axis(Located& found, int d, const float* at, float shift, float low, float high, int last) {
  locate_line(at, found.n, shift, low, high, last, found.index[d], found.part[d], found.inside);
}

bool look_up_bytes(const Texture<uint8_t, 2>& in, int64_t channels, const Located& found, uint8_t* out) {
  if (channels == 1) return look_up_tile<1>(in, found, out, blend_1);
  if (channels == 3) return look_up_tile<3>(in, found, out, blend_3);
  if (channels == 4) return look_up_tile<4>(in, found, out, blend_4);
  return false;
}

}  // namespace avida
