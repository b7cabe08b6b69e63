#include "loops/neighbours/byte_sums.h"

#include <algorithm>
#include <cstring>

#include "core/clones.h"
#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loops/neighbours/byte_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/vectors-inl.h"

#if HWY_TARGET == HWY_AVX3_DL
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni");  // AVX3_DL has it, but Highway 1.0 does not say so to compilers
#else
HWY_BEFORE_NAMESPACE();
#endif
namespace avida::HWY_NAMESPACE {

using Sums = hn::CappedTag<int32_t, 16>;
using Sum = hn::Vec<Sums>;
constexpr int64_t kLanes = hn::MaxLanes(Sums());
constexpr int64_t kVectors = kLanes == 16 ? 4 : 8;  // whose sums are kept in registers
constexpr int64_t kBlock = kVectors * kLanes;       // elements made at once
static_assert(kBlock <= kReadBeyond);

HWY_INLINE void make_block(uint8_t* out, std::span<const BytePair* const> rows, std::span<const int32_t> weights,
                           int64_t at, int bits) {
  const Sums d;
  const hn::Repartition<int16_t, Sums> words;
  Sum sums[kVectors];
  for (Sum& sum : sums) sum = hn::Set(d, 1 << bits >> 1);
  for (size_t k = 0; k < rows.size(); k++) {
    const auto weight = hn::BitCast(words, hn::Set(d, weights[k]));
    const auto* row = reinterpret_cast<const int32_t*>(rows[k] + at);
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; v++)
      sums[v] = add_products(d, sums[v], hn::BitCast(words, hn::LoadU(d, row + kLanes * v)), weight);
  }
  for (Sum& sum : sums) sum = hn::ShiftRightSame(sum, bits);
  if constexpr (kLanes == 16) {
    const hn::Rebind<uint8_t, Sums> bytes;
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; v++) hn::StoreU(hn::DemoteTo(bytes, sums[v]), bytes, out + kLanes * v);
  } else {
    const hn::Repartition<uint8_t, Sums> bytes;
    HWY_UNROLL(2)
    for (int v = 0; v < kVectors; v += 4) {
      const auto low = hn::ReorderDemote2To(words, sums[v], sums[v + 1]);
      const auto high = hn::ReorderDemote2To(words, sums[v + 2], sums[v + 3]);
      auto packed = hn::BitCast(d, saturated_bytes(bytes, low, high));
      if constexpr (kLanes == 8) {  // halves were packed each by itself
        alignas(32) static constexpr int32_t kOrder[] = {0, 4, 1, 5, 2, 6, 3, 7};
        packed = hn::TableLookupLanes(packed, hn::SetTableIndices(d, kOrder));
      }
      hn::StoreU(hn::BitCast(bytes, packed), bytes, out + kLanes * v);
    }
  }
}

void make_sums(uint8_t* out, std::span<const BytePair* const> rows, std::span<const int32_t> weights, int bits,
               int64_t n) {
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) make_block(out + i, rows, weights, i, bits);
  if (i == n) return;
  uint8_t block[kBlock];
  make_block(block, rows, weights, i, bits);
  std::memcpy(out + i, block, n - i);
}

#if HWY_TARGET == HWY_AVX3_DL

// 16 bytes and those a step further on become pairs by one permutation of the 64 bytes that begin with them.
HWY_INLINE void sum_bytes(uint8_t* out, std::span<const TapPair> taps, __m512i pairs, int64_t at, int bits) {
  __m512i sums[4];
  for (__m512i& sum : sums) sum = _mm512_set1_epi32(1 << bits >> 1);
  for (const TapPair& tap : taps) {
    const __m512i weights = _mm512_set1_epi32(tap.weights);
    HWY_UNROLL(4)
    for (int v = 0; v < 4; v++) {
      const __m512i values =
          _mm512_maskz_permutexvar_epi8(0x5555555555555555, pairs, _mm512_loadu_si512(tap.at + at + 16 * v));
      sums[v] = _mm512_dpwssd_epi32(sums[v], values, weights);
    }
  }
  const __m128i shift = _mm_cvtsi32_si128(bits);
  HWY_UNROLL(4)
  for (int v = 0; v < 4; v++) {
    const __m512i made = _mm512_max_epi32(_mm512_sra_epi32(sums[v], shift), _mm512_setzero_si512());
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at + 16 * v), _mm512_cvtusepi32_epi8(made));
  }
}

bool sum_taps(uint8_t* out, std::span<const TapPair> taps, int64_t step, int bits, int64_t n) {
  if (step > 48 || n < 64) return false;
  alignas(64) uint8_t order[64] = {};
  for (int i = 0; i < 16; i++) {
    order[4 * i] = static_cast<uint8_t>(i);
    order[4 * i + 2] = static_cast<uint8_t>(i + step);
  }
  const __m512i pairs = _mm512_load_si512(order);
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) sum_bytes(out, taps, pairs, i, bits);
  if (i < n) sum_bytes(out, taps, pairs, n - 64, bits);  // some of them once more
  return true;
}

#else

bool sum_taps(uint8_t*, std::span<const TapPair>, int64_t, int, int64_t) { return false; }

#endif

}  // namespace avida::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida {

AVIDA_CLONES void pair_up(BytePair* __restrict out, const uint8_t* __restrict in, int64_t step, int64_t n) {
  for (int64_t i = 0; i < n - step; i++) out[i] = in[i] | static_cast<BytePair>(in[i + step]) << 16;
  for (int64_t i = std::max<int64_t>(0, n - step); i < n; i++) out[i] = in[i];
}

HWY_EXPORT(make_sums);

void byte_sums(uint8_t* out, std::span<const BytePair* const> rows, std::span<const int32_t> weights, int bits,
               int64_t n) {
  HWY_DYNAMIC_DISPATCH(make_sums)(out, rows, weights, bits, n);
}

HWY_EXPORT(sum_taps);

bool sums_of_bytes(uint8_t* out, std::span<const TapPair> taps, int64_t step, int bits, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(sum_taps)(out, taps, step, bits, n);
}

}  // namespace avida
#endif
