#include "core/triples.h"

#include <array>
#include <cstring>

#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/triples.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/vectors-inl.h"

#ifndef AVIDA_TRIPLES
#define AVIDA_TRIPLES
namespace avida {
namespace {

// 21 pixels in reverse order.
alignas(64) constexpr auto kMirroredBytes = [] {
  std::array<uint8_t, 64> bytes{};
  for (int i = 0; i < 63; i++) bytes[i] = static_cast<uint8_t>(60 - i / 3 * 3 + i % 3);
  return bytes;
}();

}  // namespace
}  // namespace avida
#endif

HWY_BEFORE_NAMESPACE();
namespace avida::HWY_NAMESPACE {
template <class T>
HWY_INLINE void interleave_planes(T* HWY_RESTRICT out, const T* first, const T* second, const T* third, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    store_interleaved(hn::LoadU(d, first + i), hn::LoadU(d, second + i), hn::LoadU(d, third + i), d, out + 3 * i);
  for (; i < n; i++) {
    out[3 * i] = first[i];
    out[3 * i + 1] = second[i];
    out[3 * i + 2] = third[i];
  }
}

void interleave_bytes(uint8_t* out, const uint8_t* first, const uint8_t* second, const uint8_t* third, int64_t n) {
  interleave_planes(out, first, second, third, n);
}
void interleave_words(uint16_t* out, const uint16_t* first, const uint16_t* second, const uint16_t* third, int64_t n) {
  interleave_planes(out, first, second, third, n);
}

void split_bytes(uint8_t* HWY_RESTRICT first, uint8_t* HWY_RESTRICT second, uint8_t* HWY_RESTRICT third,
                 const uint8_t* HWY_RESTRICT in, int64_t n) {
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<decltype(d)> a, b, c;
    load_interleaved(d, in + 3 * i, a, b, c);
    hn::StoreU(a, d, first + i);
    hn::StoreU(b, d, second + i);
    hn::StoreU(c, d, third + i);
  }
  for (; i < n; i++) {
    first[i] = in[3 * i];
    second[i] = in[3 * i + 1];
    third[i] = in[3 * i + 2];
  }
}

// A vector of 16 bytes has five pixels; the byte that is left is written again by the next one.
void mirror_bytes(uint8_t* HWY_RESTRICT out, const uint8_t* HWY_RESTRICT last, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET == HWY_AVX3_DL
  const __m512i reversed = _mm512_load_si512(kMirroredBytes.data());
  constexpr __mmask64 whole = (uint64_t{1} << 63) - 1;  // 21 pixels
  for (; i + 21 <= n; i += 21) {
    const __m512i pixels = _mm512_maskz_loadu_epi8(whole, last - 3 * (i + 20));
    _mm512_mask_storeu_epi8(out + 3 * i, whole, _mm512_permutexvar_epi8(reversed, pixels));
  }
#else
  alignas(16) static constexpr uint8_t kReversed[16] = {13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, 0};
  const hn::FixedTag<uint8_t, 16> d;
  const auto reversed = hn::Load(d, kReversed);
  for (; i + 6 <= n; i += 5)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, last - 3 * (i + 4) - 1), reversed), d, out + 3 * i);
#endif
  for (; i < n; i++) std::memcpy(out + 3 * i, last - 3 * i, 3);
}

}  // namespace avida::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida {

HWY_EXPORT(interleave_bytes);
HWY_EXPORT(interleave_words);
HWY_EXPORT(split_bytes);
HWY_EXPORT(mirror_bytes);

void interleave(uint8_t* out, const uint8_t* first, const uint8_t* second, const uint8_t* third, int64_t n) {
  HWY_DYNAMIC_DISPATCH(interleave_bytes)(out, first, second, third, n);
}
void interleave(uint16_t* out, const uint16_t* first, const uint16_t* second, const uint16_t* third, int64_t n) {
  HWY_DYNAMIC_DISPATCH(interleave_words)(out, first, second, third, n);
}
void split(uint8_t* first, uint8_t* second, uint8_t* third, const uint8_t* in, int64_t n) {
  HWY_DYNAMIC_DISPATCH(split_bytes)(first, second, third, in, n);
}
void mirror(uint8_t* out, const uint8_t* last, int64_t n) { HWY_DYNAMIC_DISPATCH(mirror_bytes)(out, last, n); }

}  // namespace avida
#endif
