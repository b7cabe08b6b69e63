// Resampling of bytes with AVX2: the arithmetic of resample_bytes.cpp, many numbers at a time.
#include "op/resample_bytes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#define AVIDA_AVX2 __attribute__((target("avx2")))

namespace avida::bytes {
namespace {

// Taps are taken in pairs, as pmaddwd multiplies and adds them. One load of 16 bytes brings four pixels or, of three
// channels, five; a byte shuffle lays the two values of each channel side by side as 16-bit numbers:
//   r0 g0 b0 r1 g1 b1 ...  ->  r0 r1 g0 g1 b0 b1 0 0
// Four pixels are made at a time: 0 and 2 in the halves of one register, 1 and 3 in those of another, so that packing
// the two to 16 bits puts them in order.
constexpr int8_t kShuffle3[3][16] = {
    {0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1},
    {6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1},
    {12, -1, -1, -1, 13, -1, -1, -1, 14, -1, -1, -1, -1, -1, -1, -1},
};
constexpr int8_t kShuffle4[2][16] = {
    {0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1},
    {8, -1, 12, -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1},
};
constexpr int kHalfOrder[4] = {0, 2, 1, 3};  // which pixel each half of the two registers holds

constexpr int64_t most_in_one_load(int64_t channels) { return channels == 3 ? 5 : 4; }

// Loads of four taps while more are left than one load brings; then the rest.
struct Steps {
  int64_t full, rest_pairs, pairs;
  Steps(int64_t count, int64_t channels) {
    int64_t most = most_in_one_load(channels);
    full = count <= most ? 0 : (count - most + 3) / 4;
    rest_pairs = (count - 4 * full + 1) / 2;
    pairs = 2 * full + rest_pairs;
  }
};

void pack_pixels(Taps& taps, int64_t channels) {
  const int64_t n = static_cast<int64_t>(taps.first.size()), quads = (n + 3) / 4;
  const Steps steps(taps.count, channels);
  taps.offsets.assign(quads * 4, 0);
  taps.packed.assign(quads * steps.pairs * 32, 0);
  for (int64_t x = 0; x < quads * 4; x++)
    taps.offsets[x] = taps.first[std::min(x, n - 1)] * static_cast<int32_t>(channels);
  for (int64_t x = 0; x < n; x++) {
    int half = kHalfOrder[x % 4];
    for (int64_t k = 0; k < taps.count; k++) {
      int16_t* block = taps.packed.data() + ((x / 4) * steps.pairs + k / 2) * 32 + half * 8;
      for (int64_t c = 0; c < channels; c++) block[2 * c + k % 2] = taps.weights_of(x)[k];
    }
  }
}

// Single bytes: a register half makes four outputs, whose taps must all lie within one load. Each half has its own
// shuffle.
void pack_single(Taps& taps) {
  const int64_t n = static_cast<int64_t>(taps.first.size()), groups = (n + 15) / 16, pairs = (taps.count + 1) / 2;
  taps.offsets.assign(groups * 4, 0);
  taps.packed.assign(groups * pairs * 32, 0);
  taps.masks.assign(groups * pairs * 64, 0x80);
  for (int64_t quad = 0; quad < groups * 4; quad++) {
    int64_t begin = std::min(quad * 4, n - 1), end = std::min(quad * 4 + 4, n);
    int32_t least = *std::min_element(taps.first.begin() + begin, taps.first.begin() + std::max(end, begin + 1));
    int half = kHalfOrder[quad % 4];
    taps.offsets[quad] = least;
    for (int64_t x = quad * 4; x < end; x++)
      for (int64_t k = 0; k < taps.count; k++) {
        int64_t byte = taps.first[x] - least + k;
        if (byte >= 16) {  // too far apart
          taps.packed.clear();
          return;
        }
        int64_t block = (quad / 4) * pairs + k / 2, place = half * 8 + (x - quad * 4) * 2 + k % 2;
        taps.packed[block * 32 + place] = taps.weights_of(x)[k];
        taps.masks[block * 64 + place * 2] = static_cast<uint8_t>(byte);
      }
  }
}

void pack(Taps& taps, int64_t channels) {
  if (channels == 1)
    pack_single(taps);
  else if (channels >= 3)
    pack_pixels(taps, channels);
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

template <int channels, int rest_pairs>
AVIDA_AVX2 void filter_pixels(int16_t* out, const uint8_t* in, const Taps& taps, int64_t full) {
  const auto& bytes = [] -> const auto& {
    if constexpr (channels == 3)
      return kShuffle3;
    else
      return kShuffle4;
  }();
  __m256i shuffle[3];
  for (int i = 0; i < rest_pairs || i < 2; i++)
    shuffle[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes[i])));
  const __m256i half = _mm256_set1_epi32(1 << (kRowShift - 1));
  const int16_t* weights = taps.packed.data();
  const int64_t quads = static_cast<int64_t>(taps.offsets.size()) / 4;
  for (int64_t q = 0; q < quads; q++) {
    const int32_t* at = taps.offsets.data() + q * 4;
    const uint8_t *p0 = in + at[0], *p1 = in + at[1], *p2 = in + at[2], *p3 = in + at[3];
    __m256i a = half, b = half;
    auto add_pair = [&](__m256i pixels_a, __m256i pixels_b, __m256i order) AVIDA_AVX2 {
      a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_shuffle_epi8(pixels_a, order), load256(weights)));
      b = _mm256_add_epi32(b, _mm256_madd_epi16(_mm256_shuffle_epi8(pixels_b, order), load256(weights + 16)));
      weights += 32;
    };
    for (int64_t i = 0; i < full; i++) {
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
  const int16_t* weights = taps.packed.data();
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
  if (channels == 4)
    return steps.rest_pairs == 1 ? filter_pixels<4, 1>(out, in, taps, steps.full)
                                 : filter_pixels<4, 2>(out, in, taps, steps.full);
  switch (steps.rest_pairs) {
    case 1:
      return filter_pixels<3, 1>(out, in, taps, steps.full);
    case 2:
      return filter_pixels<3, 2>(out, in, taps, steps.full);
    default:
      return filter_pixels<3, 3>(out, in, taps, steps.full);
  }
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
  static constexpr Kernels kernels{pack, filter_row, mix_rows};
  return __builtin_cpu_supports("avx2") ? &kernels : nullptr;
}

}  // namespace avida::bytes
#else
namespace avida::bytes {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace avida::bytes
#endif
