// Operations that Highway lacks, or has only slowly. Included after it, once for each instruction set.
#if defined(AVIDA_CORE_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AVIDA_CORE_VECTORS_INL_H
#undef AVIDA_CORE_VECTORS_INL_H
#else
#define AVIDA_CORE_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#ifndef AVIDA_CORE_INTERLEAVED_BYTES
#define AVIDA_CORE_INTERLEAVED_BYTES
namespace avida {

// Where each of the 3 x 64 bytes of 64 pixels comes from: of the first two channels at once, then of the third.
struct InterleavedBytes {
  alignas(64) uint8_t of_two[3][64];
  alignas(64) uint8_t of_third[3][64];
  uint64_t is_third[3];
};
constexpr InterleavedBytes kInterleavedBytes = [] {
  InterleavedBytes bytes{};
  for (int to = 0; to < 3 * 64; to++) {
    const int part = to / 64, i = to % 64, channel = to % 3, pixel = to / 3;
    bytes.of_two[part][i] = static_cast<uint8_t>(channel == 1 ? 64 + pixel : pixel);
    bytes.of_third[part][i] = static_cast<uint8_t>(pixel);
    if (channel == 2) bytes.is_third[part] |= uint64_t{1} << i;
  }
  return bytes;
}();

}  // namespace avida
#endif

HWY_BEFORE_NAMESPACE();
namespace avida::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Stores pixels of three channels.
template <class D, class V>
HWY_INLINE void store_interleaved(V first, V second, V third, D d, hn::TFromD<D>* out) {
#if HWY_TARGET == HWY_AVX3_DL
  if constexpr (sizeof(hn::TFromD<D>) == 1 && hn::MaxLanes(d) == 64) {
    for (int part = 0; part < 3; part++) {
      const __m512i two = _mm512_load_si512(kInterleavedBytes.of_two[part]);
      const __m512i one = _mm512_load_si512(kInterleavedBytes.of_third[part]);
      const __m512i made = _mm512_permutex2var_epi8(first.raw, two, second.raw);
      _mm512_storeu_si512(out + 64 * part,
                          _mm512_mask_permutexvar_epi8(made, kInterleavedBytes.is_third[part], one, third.raw));
    }
    return;
  }
#endif
  hn::StoreInterleaved3(first, second, third, d, out);
}

// For each pair of neighbouring lanes: sum + a[0] * b[0] + a[1] * b[1].
template <class D, class V, class W>
HWY_INLINE V add_products(D d, V sum, W a, W b) {
#if HWY_ARCH_X86
  V unused = hn::Zero(d);
  return hn::ReorderWidenMulAccumulate(d, a, b, sum, unused);
#else
  const auto low = [&](W v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(d, v))); };
  const auto high = [&](W v) { return hn::ShiftRight<16>(hn::BitCast(d, v)); };
  return hn::Add(sum, hn::Add(hn::Mul(low(a), low(b)), hn::Mul(high(a), high(b))));
#endif
}

// Two vectors of 16-bit integers, saturated to bytes: in every 128 bits eight of each.
template <class D, class W>
HWY_INLINE hn::Vec<D> saturated_bytes(D d, W low, W high) {
#if HWY_ARCH_X86
  if constexpr (hn::MaxLanes(d) == 64)
    return hn::Vec<D>{_mm512_packus_epi16(low.raw, high.raw)};
  else if constexpr (hn::MaxLanes(d) == 32)
    return hn::Vec<D>{_mm256_packus_epi16(low.raw, high.raw)};
  else
    return hn::Vec<D>{_mm_packus_epi16(low.raw, high.raw)};
#else
  const hn::Half<D> half;
  return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
#endif
}

}  // namespace avida::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
