#include "core/rows.h"

#include <array>
#include <cstring>

#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/vectors-inl.h"

#ifndef AVIDA_ROWS
#define AVIDA_ROWS
namespace avida {
namespace {

constexpr int64_t kShortRow = 256, kLongRow = 16 << 10;  // bytes between which memcpy is the slower one

// Five pixels of a vector in reverse order, and the byte before them.
constexpr auto kFiveMirrored = [] {
  std::array<uint8_t, 16> from{};
  for (int i = 0; i < 15; i++) from[i] = static_cast<uint8_t>(13 - i / 3 * 3 + i % 3);
  return from;
}();

// Of every four bytes three, then the others.
template <int bytes>
constexpr auto kTriplesOfWords = [] {
  std::array<uint8_t, bytes> from{};
  for (int i = 0; i < bytes; i++) from[i] = static_cast<uint8_t>(i < bytes / 4 * 3 ? i / 3 * 4 + i % 3 : 0);
  return from;
}();

}  // namespace
}  // namespace avida
#endif

HWY_BEFORE_NAMESPACE();
namespace avida::HWY_NAMESPACE {
// Without HWY_RESTRICT, with which GCC would turn the loop into a call of memcpy.
void copy_bytes(uint8_t* out, const uint8_t* in, int64_t n) {
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::LoadU(d, in + i), d, out + i);
  if (i == n) return;
#if HWY_TARGET <= HWY_AVX3
  const auto rest = hn::FirstN(d, static_cast<size_t>(n - i));
  hn::BlendedStore(hn::MaskedLoad(rest, d, in + i), rest, d, out + i);
#else
  std::memcpy(out + i, in + i, static_cast<size_t>(n - i));
#endif
}

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
  for (; i + 64 <= n; i += 64) {
    const uint8_t* in = last - 3 * (i + 63);
    const __m512i a = _mm512_loadu_si512(in), b = _mm512_loadu_si512(in + 64), c = _mm512_loadu_si512(in + 128);
    for (int part = 0; part < 3; part++)
      _mm512_storeu_si512(out + 3 * i + 64 * part, take_bytes(kMirroredBytes, part, a, b, c));
  }
#endif
  const hn::FixedTag<uint8_t, 16> d;
  const auto five = hn::LoadU(d, kFiveMirrored.data());
  for (; i + 6 <= n; i += 5)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, last - 3 * (i + 4) - 1), five), d, out + 3 * i);
  for (; i < n; i++) std::memcpy(out + 3 * i, last - 3 * i, 3);
}

// What a vector writes after its triples is written again by the next one.
void pack_triples(uint8_t* HWY_RESTRICT out, const uint32_t* HWY_RESTRICT words, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET == HWY_AVX3_DL
  const __m512i sixteen = _mm512_loadu_si512(kTriplesOfWords<64>.data());
  for (; i + 22 <= n; i += 16)
    _mm512_storeu_si512(out + 3 * i, _mm512_permutexvar_epi8(sixteen, _mm512_loadu_si512(words + i)));
#endif
  const hn::FixedTag<uint8_t, 16> d;
  const auto four = hn::LoadU(d, kTriplesOfWords<16>.data());
  for (; i + 6 <= n; i += 4)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, reinterpret_cast<const uint8_t*>(words + i)), four), d, out + 3 * i);
  for (; i < n; i++) std::memcpy(out + 3 * i, words + i, 3);
}

}  // namespace avida::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida {

HWY_EXPORT(copy_bytes);
HWY_EXPORT(interleave_bytes);
HWY_EXPORT(interleave_words);
HWY_EXPORT(split_bytes);
HWY_EXPORT(mirror_bytes);
HWY_EXPORT(pack_triples);

void copy_row(void* out, const void* in, int64_t bytes) {
  if (bytes >= kShortRow && bytes < kLongRow)
    HWY_DYNAMIC_DISPATCH(copy_bytes)(static_cast<uint8_t*>(out), static_cast<const uint8_t*>(in), bytes);
  else
    std::memcpy(out, in, static_cast<size_t>(bytes));
}
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
void take_triples(uint8_t* out, const uint32_t* words, int64_t n) { HWY_DYNAMIC_DISPATCH(pack_triples)(out, words, n); }

}  // namespace avida
#endif
