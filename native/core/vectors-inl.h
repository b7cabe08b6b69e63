// Operations that Highway lacks, or has only slowly. Included after it, once for each instruction set.
#if defined(AVIDA_CORE_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AVIDA_CORE_VECTORS_INL_H
#undef AVIDA_CORE_VECTORS_INL_H
#else
#define AVIDA_CORE_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#ifndef AVIDA_CORE_TRIPLE_BYTES
#define AVIDA_CORE_TRIPLE_BYTES
namespace avida {

// Which bytes make 64 pixels of three channels, 64 bytes at a time: of the first two vectors at once, then of the
// third.
struct TripleBytes {
  alignas(64) uint8_t of_two[3][64];
  alignas(64) uint8_t of_third[3][64];
  uint64_t is_third[3];
};
// Bytes of pixels from channels.
constexpr TripleBytes kInterleavedBytes = [] {
  TripleBytes bytes{};
  for (int to = 0; to < 3 * 64; to++) {
    const int part = to / 64, i = to % 64, channel = to % 3, pixel = to / 3;
    bytes.of_two[part][i] = static_cast<uint8_t>(channel == 1 ? 64 + pixel : pixel);
    bytes.of_third[part][i] = static_cast<uint8_t>(pixel);
    if (channel == 2) bytes.is_third[part] |= uint64_t{1} << i;
  }
  return bytes;
}();
// Bytes of channels from pixels.
constexpr TripleBytes kSplitBytes = [] {
  TripleBytes bytes{};
  for (int channel = 0; channel < 3; channel++)
    for (int i = 0; i < 64; i++) {
      const int from = 3 * i + channel;
      bytes.of_two[channel][i] = static_cast<uint8_t>(from % 128);
      bytes.of_third[channel][i] = static_cast<uint8_t>(from % 64);
      if (from >= 128) bytes.is_third[channel] |= uint64_t{1} << i;
    }
  return bytes;
}();

// Bytes of pixels in reverse order.
constexpr TripleBytes kMirroredBytes = [] {
  TripleBytes bytes{};
  for (int to = 0; to < 3 * 64; to++) {
    const int from = 3 * (63 - to / 3) + to % 3;
    bytes.of_two[to / 64][to % 64] = static_cast<uint8_t>(from % 128);
    bytes.of_third[to / 64][to % 64] = static_cast<uint8_t>(from % 64);
    if (from >= 128) bytes.is_third[to / 64] |= uint64_t{1} << to % 64;
  }
  return bytes;
}();

}  // namespace avida
#endif

HWY_BEFORE_NAMESPACE();
namespace avida::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3_DL
HWY_INLINE __m512i take_bytes(const TripleBytes& which, int part, __m512i first, __m512i second, __m512i third) {
  const __m512i made = _mm512_permutex2var_epi8(first, _mm512_load_si512(which.of_two[part]), second);
  return _mm512_mask_permutexvar_epi8(made, which.is_third[part], _mm512_load_si512(which.of_third[part]), third);
}
#endif

// Stores pixels of three channels.
template <class D, class V>
HWY_INLINE void store_interleaved(V first, V second, V third, D d, hn::TFromD<D>* out) {
#if HWY_TARGET == HWY_AVX3_DL
  if constexpr (sizeof(hn::TFromD<D>) == 1 && hn::MaxLanes(d) == 64) {
    for (int part = 0; part < 3; part++)
      _mm512_storeu_si512(out + 64 * part, take_bytes(kInterleavedBytes, part, first.raw, second.raw, third.raw));
    return;
  }
#endif
  hn::StoreInterleaved3(first, second, third, d, out);
}

// Loads pixels of three channels.
template <class D, class V>
HWY_INLINE void load_interleaved(D d, const hn::TFromD<D>* in, V& first, V& second, V& third) {
#if HWY_TARGET == HWY_AVX3_DL
  if constexpr (sizeof(hn::TFromD<D>) == 1 && hn::MaxLanes(d) == 64) {
    const __m512i a = _mm512_loadu_si512(in), b = _mm512_loadu_si512(in + 64), c = _mm512_loadu_si512(in + 128);
    first = V{take_bytes(kSplitBytes, 0, a, b, c)};
    second = V{take_bytes(kSplitBytes, 1, a, b, c)};
    third = V{take_bytes(kSplitBytes, 2, a, b, c)};
    return;
  }
#endif
  hn::LoadInterleaved3(d, in, first, second, third);
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
