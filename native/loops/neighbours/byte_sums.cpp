#include "loops/neighbours/byte_sums.h"

#include <algorithm>
#include <cstring>

#include "core/clones.h"
#include "device/convert.h"

#if defined(__x86_64__)
#ifndef __clang__  // GCC takes the "undefined" operand of its own intrinsics for a mistake
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

namespace avida {
namespace {

using Rows = std::span<const BytePair* const>;
using Weights = std::span<const int32_t>;

constexpr int64_t kBlock = 64;  // elements made at once; their sums are kept in registers
static_assert(kBlock <= kReadBeyond);

// Each makes one block.
void block_portable(uint8_t* out, Rows rows, Weights weights, int64_t at, int bits) {
  int sums[kBlock];
  std::fill_n(sums, kBlock, 1 << bits >> 1);
  for (size_t k = 0; k < rows.size(); k++) {
    int lower = static_cast<int16_t>(weights[k]), upper = weights[k] >> 16;
    for (int64_t i = 0; i < kBlock; i++) {
      BytePair pair = rows[k][at + i];
      sums[i] += static_cast<int>(pair & 0xffff) * lower + static_cast<int>(pair >> 16) * upper;
    }
  }
  for (int64_t i = 0; i < kBlock; i++) out[i] = saturate<uint8_t>(sums[i] >> bits);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void block_avx2(uint8_t* out, Rows rows, Weights weights, int64_t at, int bits) {
  constexpr int kVectors = kBlock / 8;
  __m256i sums[kVectors];
  for (__m256i& sum : sums) sum = _mm256_set1_epi32(1 << bits >> 1);
  for (size_t k = 0; k < rows.size(); k++) {
    const __m256i weight = _mm256_set1_epi32(weights[k]);
    const BytePair* row = rows[k] + at;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; v++) {
      __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + 8 * v));
      sums[v] = _mm256_add_epi32(sums[v], _mm256_madd_epi16(pairs, weight));
    }
  }
  const __m128i shift = _mm_cvtsi32_si128(bits);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);  // undoes the packing of halves
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; v += 4) {
    __m256i a = _mm256_packs_epi32(_mm256_sra_epi32(sums[v], shift), _mm256_sra_epi32(sums[v + 1], shift));
    __m256i b = _mm256_packs_epi32(_mm256_sra_epi32(sums[v + 2], shift), _mm256_sra_epi32(sums[v + 3], shift));
    __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * v), bytes);
  }
}

__attribute__((target("avx512f,avx512bw"))) void block_avx512(uint8_t* out, Rows rows, Weights weights, int64_t at,
                                                              int bits) {
  constexpr int kVectors = kBlock / 16;
  __m512i sums[kVectors];
  for (__m512i& sum : sums) sum = _mm512_set1_epi32(1 << bits >> 1);
  for (size_t k = 0; k < rows.size(); k++) {
    const __m512i weight = _mm512_set1_epi32(weights[k]);
    const BytePair* row = rows[k] + at;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; v++)
      sums[v] = _mm512_add_epi32(sums[v], _mm512_madd_epi16(_mm512_loadu_si512(row + 16 * v), weight));
  }
  const __m128i shift = _mm_cvtsi32_si128(bits);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; v++) {
    __m512i whole = _mm512_max_epi32(_mm512_sra_epi32(sums[v], shift), _mm512_setzero_si512());
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16 * v), _mm512_cvtusepi32_epi8(whole));
  }
}
#endif

auto choose_block() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) return block_avx512;
  if (__builtin_cpu_supports("avx2")) return block_avx2;
#endif
  return block_portable;
}

}  // namespace

AVIDA_CLONES void pair_up(BytePair* __restrict out, const uint8_t* __restrict in, int64_t step, int64_t n) {
  for (int64_t i = 0; i < n - step; i++) out[i] = in[i] | static_cast<BytePair>(in[i + step]) << 16;
  for (int64_t i = std::max<int64_t>(0, n - step); i < n; i++) out[i] = in[i];
}

void byte_sums(uint8_t* out, Rows rows, Weights weights, int bits, int64_t n) {
  static const auto make_block = choose_block();
  for (int64_t i = 0; i < n; i += kBlock) {
    if (n - i >= kBlock) {
      make_block(out + i, rows, weights, i, bits);
    } else {
      uint8_t block[kBlock];
      make_block(block, rows, weights, i, bits);
      std::memcpy(out + i, block, n - i);
    }
  }
}

}  // namespace avida
