// Resampling of bytes with AVX-512 and its dot products (VNNI): resample_avx2.cpp with registers twice as wide.
#include "op/resample_packed.h"

#if defined(__x86_64__)
#ifndef __clang__  // GCC takes the "undefined" operand of its own intrinsics for a mistake
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <cstring>

#define AVIDA_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

namespace avida::bytes {
namespace {

void pack(Taps& taps, int64_t channels) {
  if (channels >= 3)
    pack_pixels(taps, channels, 4);
  else
    avx2_kernels()->pack(taps, channels);
}

AVIDA_AVX512 inline __m128i load128(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
AVIDA_AVX512 inline __m512i load512(const void* from) { return _mm512_loadu_si512(from); }

AVIDA_AVX512 inline __m512i load_lanes(const uint8_t* in, const int32_t* at) {
  __m512i lanes = _mm512_castsi128_si512(load128(in + at[0]));
  lanes = _mm512_inserti32x4(lanes, load128(in + at[2]), 1);
  lanes = _mm512_inserti32x4(lanes, load128(in + at[4]), 2);
  return _mm512_inserti32x4(lanes, load128(in + at[6]), 3);
}

template <int channels, int rest_pairs, bool one_load>
AVIDA_AVX512 void filter_pixels(int16_t* out, const uint8_t* in, const Taps& taps, int64_t full) {
  const __m512i shuffle[] = {_mm512_broadcast_i32x4(load128(shuffle_bytes<channels, 0>())),
                             _mm512_broadcast_i32x4(load128(shuffle_bytes<channels, 1>())),
                             _mm512_broadcast_i32x4(load128(shuffle_bytes<channels, 2>()))};
  const __m512i half = _mm512_set1_epi32(1 << (kRowShift - 1));
  const int16_t* weights = taps.packed[0].weights;
  const int64_t groups = static_cast<int64_t>(taps.offsets.size()) / 8;
  const int32_t* at = taps.offsets.data();
  for (int64_t g = 0; g < groups; g++, at += 8) {
    __m512i a = half, b = half;
    const uint8_t* from = in;
    for (int64_t i = 0; !one_load && i < full; i++, from += 4 * channels) {
      __m512i even = load_lanes(from, at), odd = load_lanes(from, at + 1);
      for (int p = 0; p < 2; p++, weights += 64) {
        a = _mm512_dpwssd_epi32(a, _mm512_shuffle_epi8(even, shuffle[p]), load512(weights));
        b = _mm512_dpwssd_epi32(b, _mm512_shuffle_epi8(odd, shuffle[p]), load512(weights + 32));
      }
    }
    __m512i even = load_lanes(from, at), odd = load_lanes(from, at + 1);
    for (int p = 0; p < rest_pairs; p++, weights += 64) {
      a = _mm512_dpwssd_epi32(a, _mm512_shuffle_epi8(even, shuffle[p]), load512(weights));
      b = _mm512_dpwssd_epi32(b, _mm512_shuffle_epi8(odd, shuffle[p]), load512(weights + 32));
    }
    a = _mm512_srai_epi32(a, kRowShift);
    b = _mm512_srai_epi32(b, kRowShift);
    _mm512_storeu_si512(out + g * 32, _mm512_packs_epi32(a, b));
  }
}

void filter_row(int16_t* out, const uint8_t* in, const Taps& taps, int64_t channels) {
  if (channels < 3) return avx2_kernels()->filter_row(out, in, taps, channels);
  const Steps steps(taps.count, channels);
  with_steps(steps, channels, [&]<int c, int rest_pairs, bool one_load>() {
    filter_pixels<c, rest_pairs, one_load>(out, in, taps, steps.full);
  });
}

// 64 numbers of every row become 64 bytes; `weights` are pairs.
AVIDA_AVX512 inline __m512i mix64(const int16_t* const* rows, const int32_t* weights, int64_t count, int64_t i) {
  const __m512i half = _mm512_set1_epi32(1 << (kOutShift - 1));
  __m512i sum[4] = {half, half, half, half};
  for (int64_t k = 0; k < count; k += 2) {
    const int16_t* first = rows[k] + i;
    const int16_t* second = rows[k + 1] + i;
    __m512i weight = _mm512_set1_epi32(weights[k / 2]);
    for (int part = 0; part < 2; part++) {
      __m512i x = load512(first + part * 32), y = load512(second + part * 32);
      sum[2 * part] = _mm512_dpwssd_epi32(sum[2 * part], _mm512_unpacklo_epi16(x, y), weight);
      sum[2 * part + 1] = _mm512_dpwssd_epi32(sum[2 * part + 1], _mm512_unpackhi_epi16(x, y), weight);
    }
  }
  for (__m512i& s : sum) s = _mm512_srai_epi32(s, kOutShift);
  __m512i low = _mm512_packs_epi32(sum[0], sum[1]), high = _mm512_packs_epi32(sum[2], sum[3]);
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  return _mm512_permutexvar_epi64(order, _mm512_packus_epi16(low, high));
}

// Drops every fourth byte.
AVIDA_AVX512 inline __m512i drop_fourth(__m512i bytes) {
  const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const __m512i words = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(words, _mm512_shuffle_epi8(bytes, order));
}

AVIDA_AVX512 void mix_rows(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int64_t count, int64_t n,
                           int64_t channels) {
  const int64_t numbers = n * lanes_of(channels), bytes = n * channels, step = channels == 3 ? 48 : 64;
  const int64_t even = (count + 1) / 2 * 2;
  int32_t pairs[kMostTaps / 2];
  const int16_t* padded[kMostTaps];
  for (int64_t k = 0; k < even; k++) padded[k] = rows[std::min(k, count - 1)];
  for (int64_t k = 0; k < even; k += 2) {
    unsigned second = k + 1 < count ? static_cast<uint16_t>(weights[k + 1]) : 0;
    pairs[k / 2] = static_cast<int32_t>(static_cast<uint16_t>(weights[k]) | second << 16);
  }
  for (int64_t i = 0, at = 0; i < numbers; i += 64, at += step) {
    __m512i mixed = mix64(padded, pairs, even, i);  // rows are padded to full registers
    if (channels == 3) mixed = drop_fourth(mixed);
    int64_t left = std::min(step, bytes - at);
    _mm512_mask_storeu_epi8(out + at, left == 64 ? ~0ull : (1ull << left) - 1, mixed);
  }
}

}  // namespace

const Kernels* avx512_kernels() {
  static constexpr Kernels kernels{pack, filter_row, mix_rows};
  bool has = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni") && avx2_kernels();
  return has ? &kernels : nullptr;
}

}  // namespace avida::bytes
#else
namespace avida::bytes {
const Kernels* avx512_kernels() { return nullptr; }
}  // namespace avida::bytes
#endif
