// Linear interpolation of a tile.
#include <cstring>

#include "core/clones.h"
#include "core/rows.h"
#include "core/vectors.h"
#include "loops/warping/warp_loops.h"

#include <hwy/highway.h>

namespace avida {
namespace {

// Of each pixel of a tile the two above it in the input, side by side, and the two below.
struct Corners {
  alignas(64) uint32_t above[2 * kTileSize], below[2 * kTileSize];
};

template <int channels>
AVIDA_INLINE uint64_t load_pair(const uint8_t* pixel) {
  uint64_t pair = 0;
  std::memcpy(&pair, pixel, channels == 1 ? 2 : 8);
  return pair;
}
AVIDA_INLINE void store_pair(uint32_t* to, int i, uint64_t pair) { std::memcpy(to + 2 * i, &pair, 8); }

template <int channels>
AVIDA_INLINE uint64_t join(const uint8_t* left, const uint8_t* right) {
  uint64_t pair = 0;
  std::memcpy(&pair, left, channels);
  std::memcpy(reinterpret_cast<char*>(&pair) + channels, right, channels);
  return pair;
}

// A function of its own: the loop over pixels that lie inside stays small.
template <int channels>
__attribute__((noinline)) void collect_at_border(const Texture<uint8_t, 2>& in, const Located& found, int i,
                                                 Corners& corners) {
  const int first[] = {found.index[0][i], found.index[1][i]};
  const uint8_t* corner[4];
  find_corners<2>(in, first, corner);
  store_pair(corners.above, i, join<channels>(corner[0], corner[1]));
  store_pair(corners.below, i, join<channels>(corner[2], corner[3]));
}

template <int channels>
void collect(const Texture<uint8_t, 2>& in, const Located& found, Corners& corners) {
  const uint8_t *above = in.data, *below = in.data + in.stride[1];
  found.runs(
      [&](int begin, int end) {
#pragma GCC unroll 4
        for (int i = begin; i < end; i++) {
          store_pair(corners.above, i, load_pair<channels>(above + found.offset[i]));
          store_pair(corners.below, i, load_pair<channels>(below + found.offset[i]));
        }
      },
      [&](int i) { collect_at_border<channels>(in, found, i, corners); },
      [&](int begin, int end) {
        const uint64_t pair = join<channels>(in.fill, in.fill);
        for (int i = begin; i < end; i++) store_pair(corners.above, i, pair), store_pair(corners.below, i, pair);
      });
}

// Byte k of two words.
template <int k>
AVIDA_INLINE float byte_of(uint32_t low, uint32_t high) {
  return static_cast<float>(static_cast<int>((k < 4 ? low >> 8 * (k % 4) : high >> 8 * (k % 4)) & 255));
}

template <int channels, int c = 0>
AVIDA_INLINE uint32_t blend_channels(const uint32_t* above, const uint32_t* below, float qx, float qy) {
  if constexpr (c == channels) {
    return 0;
  } else {
    float upper = mix(byte_of<c>(above[0], above[1]), byte_of<c + channels>(above[0], above[1]), qx);
    float lower = mix(byte_of<c>(below[0], below[1]), byte_of<c + channels>(below[0], below[1]), qx);
    float mixed = mix(upper, lower, qy);
    return static_cast<uint32_t>(static_cast<int>(mixed + FloatBits<float>::below_half)) << 8 * c |  // as convert()
           blend_channels<channels, c + 1>(above, below, qx, qy);
  }
}

template <int channels>
AVIDA_INLINE void blend(const Located& found, const Corners& corners, uint32_t* __restrict out) {
  for (int i = 0; i < found.n; i++)
    out[i] = blend_channels<channels>(corners.above + 2 * i, corners.below + 2 * i, found.part[0][i], found.part[1][i]);
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
  if (channels == 1)
    for (int i = 0; i < found.n; i++) out[i] = static_cast<uint8_t>(pixels[i]);
  else if (channels == 3)
    take_triples(out, pixels, found.n);
  else
    std::memcpy(out, pixels, 4 * found.n);
  return true;
}

// Four elements as floats.
using Quad = float __attribute__((vector_size(16)));

template <class T>
AVIDA_INLINE Quad load_quad(const void* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  using Floats = hn::FixedTag<float, 4>;
  const auto* elements = static_cast<const T*>(from);
  if constexpr (sizeof(T) == 4)
    return hn::LoadU(Floats(), elements).raw;
  else
    return hn::ConvertTo(Floats(),
                         hn::PromoteTo(hn::RebindToSigned<Floats>(), hn::LoadU(hn::Rebind<T, Floats>(), elements)))
        .raw;
}

AVIDA_INLINE Quad mix_quads(Quad a, Quad b, float part) { return a * (1 - part) + b * part; }

template <class T>
__attribute__((noinline)) void mix_at_border(const Texture<T, 2>& in, const Located& found, int i, int channels,
                                             float* out) {
  const int first[] = {found.index[0][i], found.index[1][i]};
  const float part[] = {found.part[0][i], found.part[1][i]};
  const T* corner[4];
  find_corners<2>(in, first, corner);
  for (int c = 0; c < channels; c++) out[c] = interpolate<2>(corner, part, c);
}

template <int channels, class T>
AVIDA_INLINE void mix_pixels(const Texture<T, 2>& in, const Located& found, float* __restrict out) {
  const char* above = reinterpret_cast<const char*>(in.data);
  const char* below = reinterpret_cast<const char*>(in.data + in.stride[1]);
  found.runs(
      [&](int begin, int end) {
        for (int i = begin; i < end; i++) {
          const float qx = found.part[0][i], qy = found.part[1][i];
          const char *a = above + found.offset[i], *b = below + found.offset[i];
          float* to = out + static_cast<int64_t>(i) * channels;
          if constexpr (channels == 1) {
            T pair[2][2];
            std::memcpy(pair[0], a, sizeof(pair[0]));
            std::memcpy(pair[1], b, sizeof(pair[1]));
            *to = mix(mix(static_cast<float>(pair[0][0]), static_cast<float>(pair[0][1]), qx),
                      mix(static_cast<float>(pair[1][0]), static_cast<float>(pair[1][1]), qx), qy);
          } else {
            constexpr int next = channels * static_cast<int>(sizeof(T));
            const Quad mixed = mix_quads(mix_quads(load_quad<T>(a), load_quad<T>(a + next), qx),
                                         mix_quads(load_quad<T>(b), load_quad<T>(b + next), qx), qy);
            // The fourth of three is overwritten by the next pixel.
            if (channels == 4 || i + 1 < found.n)
              std::memcpy(to, &mixed, 16);
            else
              std::memcpy(to, &mixed, 12);
          }
        }
      },
      [&](int i) { mix_at_border(in, found, i, channels, out + static_cast<int64_t>(i) * channels); },
      [&](int begin, int end) {
        for (int64_t i = begin; i < end; i++)
          for (int c = 0; c < channels; c++) out[i * channels + c] = static_cast<float>(in.fill[c]);
      });
}

// For each type a function that is compiled for several instruction sets.
#define AVIDA_LOOK_UP_FLOATS(T)                                                        \
  AVIDA_CLONES void mix_1(const Texture<T, 2>& in, const Located& found, float* out) { \
    mix_pixels<1>(in, found, out);                                                     \
  }                                                                                    \
  AVIDA_CLONES void mix_3(const Texture<T, 2>& in, const Located& found, float* out) { \
    mix_pixels<3>(in, found, out);                                                     \
  }                                                                                    \
  AVIDA_CLONES void mix_4(const Texture<T, 2>& in, const Located& found, float* out) { mix_pixels<4>(in, found, out); }
AVIDA_LOOK_UP_FLOATS(uint8_t)
AVIDA_LOOK_UP_FLOATS(int16_t)
AVIDA_LOOK_UP_FLOATS(uint16_t)
AVIDA_LOOK_UP_FLOATS(float)
#undef AVIDA_LOOK_UP_FLOATS

}  // namespace

bool look_up_bytes(const Texture<uint8_t, 2>& in, int64_t channels, const Located& found, uint8_t* out) {
  if (channels == 1) return look_up_tile<1>(in, found, out, blend_1);
  if (channels == 3) return look_up_tile<3>(in, found, out, blend_3);
  if (channels == 4) return look_up_tile<4>(in, found, out, blend_4);
  return false;
}

template <class T>
bool look_up_floats(const Texture<T, 2>& in, int64_t channels, const Located& found, float* out) {
  if (channels == 1) return mix_1(in, found, out), true;
  if (channels == 3) return mix_3(in, found, out), true;
  if (channels == 4) return mix_4(in, found, out), true;
  return false;
}
template bool look_up_floats(const Texture<uint8_t, 2>&, int64_t, const Located&, float*);
template bool look_up_floats(const Texture<int16_t, 2>&, int64_t, const Located&, float*);
template bool look_up_floats(const Texture<uint16_t, 2>&, int64_t, const Located&, float*);
template bool look_up_floats(const Texture<float, 2>&, int64_t, const Located&, float*);

}  // namespace avida
