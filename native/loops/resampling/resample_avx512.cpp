// Resampling of bytes with AVX-512, its permutations of bytes (VBMI) and its dot products (VNNI).
#include "loops/resampling/resample_packed.h"
#include "runtime/memory.h"

#if defined(__x86_64__)
#ifndef __clang__  // GCC takes the "undefined" operand of its own intrinsics for a mistake
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#define AVIDA_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni")))

namespace avida::bytes {
namespace {

constexpr int64_t kWindow = 64;  // bytes of one load

// Four neighbouring output pixels are made of few input pixels: one load brings them all, and a permutation of its
// bytes for every pair of taps lays the two values of each channel side by side. False where the pixels lie too far
// apart.
bool pack_windows(Taps& taps, int64_t channels) {
  const int64_t n = static_cast<int64_t>(taps.first.size()), quads = (n + 7) / 8 * 2;
  const int64_t pairs = (taps.count + 1) / 2;
  const int64_t end = (*std::ranges::max_element(taps.first) + taps.count) * channels;
  if (end < kWindow) return false;
  std::vector<int32_t> offsets(quads);
  std::vector<Line> packed(quads * pairs * 2);
  for (int64_t q = 0; q < quads; q++) {
    int64_t begin = std::min<int64_t>(q * 4, n - 1), count = std::min<int64_t>(n - begin, 4);
    auto [low, high] = std::ranges::minmax(std::span(taps.first).subspan(begin, count));
    int64_t offset = std::min(low * channels, end - kWindow);
    if ((high + taps.count) * channels - offset > kWindow) return false;
    offsets[q] = static_cast<int32_t>(offset);
    for (int64_t x = q * 4; x < std::min(n, q * 4 + 4); x++)
      for (int64_t k = 0; k < taps.count; k++) {
        Line* line = &packed[(q * pairs + k / 2) * 2];  // which bytes, and then their weights
        for (int64_t c = 0; c < channels; c++) {
          int64_t word = (x % 4 * 4 + c) * 2 + k % 2;
          line[0].weights[word] = static_cast<int16_t>((taps.first[x] + k) * channels + c - offset);
          line[1].weights[word] = taps.weights_of(x)[k];
        }
      }
  }
  taps.offsets = std::move(offsets);
  taps.packed = std::move(packed);
  return taps.windows = true;
}

void pack(Taps& taps, int64_t channels) {
  if (channels < 3 || !pack_windows(taps, channels)) avx2_kernels()->pack(taps, channels);
}

AVIDA_AVX512 inline __m512i load512(const void* from) { return _mm512_loadu_si512(from); }

// Where the numbers of eight pixels, without gaps, are found in two packed registers.
template <int channels>
constexpr auto kPixelOrder = [] {
  std::array<int16_t, 32> order{};
  for (int i = 0; i < 8 * channels; i++)
    order[i] = static_cast<int16_t>(i / channels % 4 * 8 + i / channels / 4 * 4 + i % channels);
  return order;
}();

// `pairs` of taps, or as many as the last argument says.
template <int channels, int pairs>
AVIDA_AVX512 void filter_windows(int16_t* out, const uint8_t* in, const Taps& taps, int64_t any_pairs) {
  const __m512i half = _mm512_set1_epi32(1 << (kRowShift - 1));
  const __m512i order = load512(kPixelOrder<channels>.data());
  const __mmask64 low_bytes = 0x5555555555555555;
  const Line* packed = taps.packed.data();
  const int64_t n = pairs ? pairs : any_pairs;
  const int32_t* offset = taps.offsets.data();
  for (const int32_t* end = offset + taps.offsets.size(); offset < end; offset += 2, out += 8 * channels) {
    __m512i sum[2];
    for (int i = 0; i < 2; i++) {
      __m512i bytes = load512(in + offset[i]);
      sum[i] = half;
      for (int64_t p = 0; p < n; p++, packed += 2) {
        __m512i values = _mm512_maskz_permutexvar_epi8(low_bytes, load512(packed), bytes);
        sum[i] = _mm512_dpwssd_epi32(sum[i], values, load512(packed + 1));
      }
      sum[i] = _mm512_srai_epi32(sum[i], kRowShift);
    }
    _mm512_storeu_si512(out, _mm512_permutexvar_epi16(order, _mm512_packs_epi32(sum[0], sum[1])));
  }
}

template <int channels>
void filter_pixels(int16_t* out, const uint8_t* in, const Taps& taps) {
  const int64_t pairs = (taps.count + 1) / 2;
  switch (pairs) {
    case 2:
      return filter_windows<channels, 2>(out, in, taps, pairs);
    case 3:
      return filter_windows<channels, 3>(out, in, taps, pairs);
    case 4:
      return filter_windows<channels, 4>(out, in, taps, pairs);
    default:
      return filter_windows<channels, 0>(out, in, taps, pairs);
  }
}

void filter_row(int16_t* out, const uint8_t* in, const Taps& taps, int64_t channels) {
  if (taps.windows) return channels == 3 ? filter_pixels<3>(out, in, taps) : filter_pixels<4>(out, in, taps);
  const int64_t n = static_cast<int64_t>(taps.first.size());
  if (channels != 3) return avx2_kernels()->filter_row(out, in, taps, channels);
  Block apart = allocate((n * lanes_of(3) + 64) * int64_t{sizeof(int16_t)});
  auto* pixels = static_cast<int16_t*>(apart.get());
  avx2_kernels()->filter_row(pixels, in, taps, channels);
  for (int64_t x = 0; x < n; x++)
    for (int c = 0; c < 3; c++) out[x * 3 + c] = pixels[x * 4 + c];
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

AVIDA_AVX512 void mix_rows(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int64_t count, int64_t n,
                           int64_t channels) {
  const int64_t numbers = n * channels;
  const int64_t even = (count + 1) / 2 * 2;
  int32_t pairs[kMostTaps / 2];
  const int16_t* padded[kMostTaps];
  for (int64_t k = 0; k < even; k++) padded[k] = rows[std::min(k, count - 1)];
  for (int64_t k = 0; k < even; k += 2) {
    unsigned second = k + 1 < count ? static_cast<uint16_t>(weights[k + 1]) : 0;
    pairs[k / 2] = static_cast<int32_t>(static_cast<uint16_t>(weights[k]) | second << 16);
  }
  for (int64_t i = 0; i < numbers; i += 64) {
    __m512i mixed = mix64(padded, pairs, even, i);  // rows are padded to full registers
    int64_t left = std::min<int64_t>(64, numbers - i);
    _mm512_mask_storeu_epi8(out + i, left == 64 ? ~0ull : (1ull << left) - 1, mixed);
  }
}

}  // namespace

const Kernels* avx512_kernels() {
  static constexpr Kernels kernels{[](int64_t channels) { return static_cast<int>(channels); }, pack, filter_row,
                                   mix_rows};
  bool has = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
             __builtin_cpu_supports("avx512vnni") && avx2_kernels();
  return has ? &kernels : nullptr;
}

}  // namespace avida::bytes
#else
namespace avida::bytes {
const Kernels* avx512_kernels() { return nullptr; }
}  // namespace avida::bytes
#endif
