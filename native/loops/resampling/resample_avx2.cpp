// Resampling of bytes with AVX2: the arithmetic of resample_bytes.cpp, many numbers at a time.
#include "loops/resampling/resample_packed.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

#define AVIDA_AVX2 __attribute__((target("avx2")))

namespace avida::bytes {
namespace {

// Single bytes: a register half makes four outputs, whose taps must all lie within one load. Each half has its own
// shuffle.
void pack_single(Taps& taps) {
  const int64_t n = static_cast<int64_t>(taps.first.size()), groups = (n + 15) / 16, pairs = (taps.count + 1) / 2;
  taps.offsets.assign(groups * 4, 0);
  taps.packed.assign(groups * pairs, {});
  taps.masks.assign(groups * pairs * 64, 0x80);
  for (int64_t quad = 0; quad < groups * 4; quad++) {
    int64_t begin = std::min(quad * 4, n - 1), end = std::min(quad * 4 + 4, n);
    int32_t least = *std::min_element(taps.first.begin() + begin, taps.first.begin() + std::max(end, begin + 1));
    int64_t half = quad % 2 * 2 + quad % 4 / 2;
    taps.offsets[quad] = least;
    for (int64_t x = quad * 4; x < end; x++)
      for (int64_t k = 0; k < taps.count; k++) {
        int64_t byte = taps.first[x] - least + k;
        if (byte >= 16) {  // too far apart
          taps.packed.clear();
          return;
        }
        int64_t block = (quad / 4) * pairs + k / 2, lane = half * 8 + (x - quad * 4) * 2 + k % 2;
        taps.packed[block].weights[lane] = taps.weights_of(x)[k];
        taps.masks[block * 64 + lane * 2] = static_cast<uint8_t>(byte);
      }
  }
}

void pack(Taps& taps, int64_t channels) {
  if (channels == 1)
    pack_single(taps);
  else if (channels >= 3)
    pack_pixels(taps, channels, 2);
}

AVIDA_AVX2 inline __m256i load_halves(const uint8_t* low, const uint8_t* high) {
  __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(low));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(first), _mm_loadu_si128(reinterpret_cast<const __m128i*>(high)),
                                 1);
}

AVIDA_AVX2 inline __m256i load256(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

AVIDA_AVX2 inline void store_filtered(int16_t* out, __m256i a, __m256i b) {
  a = _mm256_srai_epi32(a, kRowShift);
  b = _mm256_srai_epi32(b, kRowShift);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_packs_epi32(a, b));
}

AVIDA_AVX2 inline __m256i shuffle256(const int8_t* bytes) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
}

template <int channels, int rest_pairs, bool one_load>
AVIDA_AVX2 void filter_pixels(int16_t* out, const uint8_t* in, const Taps& taps, int64_t full) {
  const __m256i shuffle[] = {shuffle256(shuffle_bytes<channels, 0>()), shuffle256(shuffle_bytes<channels, 1>()),
                             shuffle256(shuffle_bytes<channels, 2>())};
  const __m256i half = _mm256_set1_epi32(1 << (kRowShift - 1));
  const int16_t* weights = taps.packed[0].weights;
  const int64_t quads = static_cast<int64_t>(taps.offsets.size()) / 4;
  const int32_t* at = taps.offsets.data();
  for (int64_t q = 0; q < quads; q++, at += 4) {
    const uint8_t *p0 = in + at[0], *p1 = in + at[1], *p2 = in + at[2], *p3 = in + at[3];
    __m256i a = half, b = half;
    auto add_pair = [&](__m256i pixels_a, __m256i pixels_b, __m256i order) AVIDA_AVX2 {
      a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_shuffle_epi8(pixels_a, order), load256(weights)));
      b = _mm256_add_epi32(b, _mm256_madd_epi16(_mm256_shuffle_epi8(pixels_b, order), load256(weights + 16)));
      weights += 32;
    };
    for (int64_t i = 0; !one_load && i < full; i++) {
      __m256i pixels_a = load_halves(p0, p2), pixels_b = load_halves(p1, p3);
      add_pair(pixels_a, pixels_b, shuffle[0]);
      add_pair(pixels_a, pixels_b, shuffle[1]);
      p0 += 4 * channels, p1 += 4 * channels, p2 += 4 * channels, p3 += 4 * channels;
    }
    __m256i pixels_a = load_halves(p0, p2), pixels_b = load_halves(p1, p3);
    for (int i = 0; i < rest_pairs; i++) add_pair(pixels_a, pixels_b, shuffle[i]);
    store_filtered(out + q * 16, a, b);
  }
}

AVIDA_AVX2 void filter_single(int16_t* out, const uint8_t* in, const Taps& taps) {
  const __m256i half = _mm256_set1_epi32(1 << (kRowShift - 1));
  const int16_t* weights = taps.packed[0].weights;
  const uint8_t* masks = taps.masks.data();
  const int64_t groups = static_cast<int64_t>(taps.offsets.size()) / 4, pairs = (taps.count + 1) / 2;
  for (int64_t g = 0; g < groups; g++) {
    const int32_t* at = taps.offsets.data() + g * 4;
    __m256i bytes_a = load_halves(in + at[0], in + at[2]), bytes_b = load_halves(in + at[1], in + at[3]);
    __m256i a = half, b = half;
    for (int64_t i = 0; i < pairs; i++, weights += 32, masks += 64) {
      a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_shuffle_epi8(bytes_a, load256(masks)), load256(weights)));
      b = _mm256_add_epi32(b,
                           _mm256_madd_epi16(_mm256_shuffle_epi8(bytes_b, load256(masks + 32)), load256(weights + 16)));
    }
    store_filtered(out + g * 16, a, b);
  }
}

void filter_row(int16_t* out, const uint8_t* in, const Taps& taps, int64_t channels) {
  if (taps.packed.empty()) return portable_kernels().filter_row(out, in, taps, channels);
  if (channels == 1) return filter_single(out, in, taps);
  const Steps steps(taps.count, channels);
  with_steps(steps, channels, [&]<int c, int rest_pairs, bool one_load>() {
    filter_pixels<c, rest_pairs, one_load>(out, in, taps, steps.full);
  });
}

// 32 numbers of every row become 32 bytes.
AVIDA_AVX2 inline __m256i mix32(const int16_t* const* rows, const int16_t* weights, int64_t count, int64_t i) {
  const __m256i half = _mm256_set1_epi32(1 << (kOutShift - 1));
  __m256i sum[4] = {half, half, half, half};
  for (int64_t k = 0; k < count; k += 2) {
    const int16_t* first = rows[k] + i;
    const int16_t* second = rows[std::min(k + 1, count - 1)] + i;
    unsigned pair = static_cast<uint16_t>(weights[k]);
    if (k + 1 < count) pair |= static_cast<unsigned>(static_cast<uint16_t>(weights[k + 1])) << 16;
    __m256i weight = _mm256_set1_epi32(static_cast<int>(pair));
    for (int part = 0; part < 2; part++) {
      __m256i x = load256(first + part * 16), y = load256(second + part * 16);
      sum[2 * part] = _mm256_add_epi32(sum[2 * part], _mm256_madd_epi16(_mm256_unpacklo_epi16(x, y), weight));
      sum[2 * part + 1] = _mm256_add_epi32(sum[2 * part + 1], _mm256_madd_epi16(_mm256_unpackhi_epi16(x, y), weight));
    }
  }
  for (__m256i& s : sum) s = _mm256_srai_epi32(s, kOutShift);
  __m256i low = _mm256_packs_epi32(sum[0], sum[1]), high = _mm256_packs_epi32(sum[2], sum[3]);
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8);
}

// Drops every fourth byte.
AVIDA_AVX2 inline __m256i drop_fourth(__m256i bytes) {
  const __m256i order = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,  //
                                         0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  return _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(bytes, order), _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
}

AVIDA_AVX2 void mix_rows(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int64_t count, int64_t n,
                         int64_t channels) {
  const int64_t numbers = n * lanes_of(channels), step = channels == 3 ? 24 : 32, bytes = n * channels;
  int64_t i = 0, at = 0;
  for (; i + 32 <= numbers; i += 32, at += step) {
    __m256i mixed = mix32(rows, weights, count, i);
    if (channels == 3) {
      mixed = drop_fourth(mixed);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at), _mm256_castsi256_si128(mixed));
      _mm_storel_epi64(reinterpret_cast<__m128i*>(out + at + 16), _mm256_extracti128_si256(mixed, 1));
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at), mixed);
    }
  }
  if (i == numbers) return;
  __m256i mixed = mix32(rows, weights, count, i);  // rows are padded to full registers
  if (channels == 3) mixed = drop_fourth(mixed);
  uint8_t rest[32];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(rest), mixed);
  memcpy(out + at, rest, bytes - at);
}

}  // namespace

const Kernels* avx2_kernels() {
  static constexpr Kernels kernels{lanes_of, pack, filter_row, mix_rows};
  return __builtin_cpu_supports("avx2") ? &kernels : nullptr;
}

}  // namespace avida::bytes
#else
namespace avida::bytes {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace avida::bytes
#endif
