// Images of bytes for each_pixel.h on the CPU, 16 pixels at a time.
// The body runs on vectors of floats as it does on one float, so that the bits are the same.
#pragma once
#include "device/pixel.h"
#include "loops/pixels/vbmi.h"

namespace avida {

// Bodies that are templates of the type of a channel can.
template <class Body, class Number, class Params>
concept RunsOn = requires(Pixel<Body::in, Number> pixel, Params params) { Body::run(pixel, params); };

#if defined(__x86_64__)
}  // namespace avida

// All of this is inlined into one function, so nobody sees how vectors are passed.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#ifndef __clang__  // GCC takes the "undefined" operand of its own intrinsics for a mistake
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

namespace avida {

using Floats16 = float __attribute__((vector_size(64)));
constexpr int64_t kVectorPixels = 16;

// Which byte goes where.
struct PixelBytes {
  alignas(64) uint8_t read[3][64];  // the channel of 16 pixels, as 32-bit numbers
  alignas(64) uint8_t write[64];    // pixels from what packing leaves: in every 16 bytes, four of each channel
  alignas(64) uint8_t low[64];      // the lowest bytes of 16 numbers
};
constexpr PixelBytes kPixelBytes = [] {
  PixelBytes bytes{};
  for (int i = 0; i < kVectorPixels; i++) {
    for (int c = 0; c < 3; c++) {
      bytes.read[c][4 * i] = static_cast<uint8_t>(3 * i + c);
      bytes.write[3 * i + c] = static_cast<uint8_t>(i / 4 * 16 + c * 4 + i % 4);
    }
    bytes.low[i] = static_cast<uint8_t>(4 * i);
  }
  return bytes;
}();
constexpr uint64_t kThreeChannels = (uint64_t{1} << 48) - 1, kLowBytes = 0x1111111111111111;

template <int N>
AVIDA_VBMI AVIDA_INLINE void read_pixels(Pixel<N, Floats16>& to, const uint8_t* in, int64_t plane) {
  if (N == 3 && !plane) {
    __m512i all = _mm512_maskz_loadu_epi8(kThreeChannels, in);
    for (int c = 0; c < N; c++)
      to[c] = _mm512_cvtepi32_ps(_mm512_maskz_permutexvar_epi8(kLowBytes, _mm512_load_si512(kPixelBytes.read[c]), all));
  } else {
    for (int c = 0; c < N; c++)
      to[c] =
          _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + c * plane))));
  }
}

// As store_channel, but what is negative, or was not a number, is left to what follows.
AVIDA_VBMI AVIDA_INLINE __m512i rounded(const Floats16& x) {
  __m512 most = _mm512_min_ps(_mm512_set1_ps(255), x);  // the second one, if it is not a number
  return _mm512_cvttps_epi32(_mm512_add_ps(most, _mm512_set1_ps(FloatBits<float>::below_half)));
}

template <int N>
AVIDA_VBMI AVIDA_INLINE void write_pixels(uint8_t* out, const Pixel<N, Floats16>& made, int64_t plane) {
  if constexpr (N == 3) {
    if (!plane) {
      __m512i first = _mm512_packs_epi32(rounded(made[0]), rounded(made[1])), last = rounded(made[2]);
      __m512i all = _mm512_packus_epi16(first, _mm512_packs_epi32(last, last));
      all = _mm512_permutexvar_epi8(_mm512_load_si512(kPixelBytes.write), all);
      return _mm512_mask_storeu_epi8(out, kThreeChannels, all);
    }
  }
  for (int c = 0; c < N; c++) {
    __m512i all = _mm512_max_epi32(rounded(made[c]), _mm512_setzero_si512());
    all = _mm512_permutexvar_epi8(_mm512_load_si512(kPixelBytes.low), all);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + c * plane), _mm512_castsi512_si128(all));
  }
}

// The first pixels of n, as many as fill vectors; says how many. Planes are as in pixel_run.
template <class Body, class Params>
AVIDA_VBMI int64_t vector_run(uint8_t* __restrict out, const uint8_t* __restrict in, int64_t n, int64_t plane,
                              Params params) {
  const int64_t in_step = plane ? 1 : Body::in, out_step = plane ? 1 : Body::out, end = n - n % kVectorPixels;
  for (int64_t i = 0; i < end; i += kVectorPixels) {
    Pixel<Body::in, Floats16> pixels;
    read_pixels(pixels, in + i * in_step, plane);
    write_pixels(out + i * out_step, Body::run(pixels, params), plane);
  }
  return end;
}

}  // namespace avida
#pragma GCC diagnostic pop

namespace avida {
#endif

// Does what vectors can do of n pixels of bytes, and says how many that were.
template <class Body, class Params>
int64_t vector_pixels(uint8_t* out, const uint8_t* in, int64_t n, int64_t plane, const Params& params) {
#if defined(__x86_64__)
  constexpr bool known = (Body::in == 1 || Body::in == 3) && (Body::out == 1 || Body::out == 3);
  if constexpr (known && RunsOn<Body, Floats16, Params>)
    if (has_vbmi())
      return plane ? vector_run<Body>(out, in, n, plane, params) : vector_run<Body>(out, in, n, 0, params);
#endif
  return 0;
}

}  // namespace avida
