#include "core/rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "core/made_once.h"
#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/rows.cpp"
#include <hwy/cache_control.h>
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

// Four pixels of three bytes as words of four.
constexpr auto kWordsOfTriples = [] {
  std::array<uint8_t, 16> from{};
  for (int i = 0; i < 16; i++) from[i] = static_cast<uint8_t>(i / 4 * 3 + i % 4 % 3);
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

// Whole lines are stored past the cache: parts of them would be written one by one.
void stream_bytes(uint8_t* out, const uint8_t* in, int64_t n) {
  const hn::ScalableTag<uint8_t> d;
  constexpr int64_t kLine = 64, lanes = hn::MaxLanes(d);
  const int64_t head = std::min(n, static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) % kLine));
  const int64_t end = head + (n - head) / kLine * kLine;
  std::memcpy(out, in, static_cast<size_t>(head));
  for (int64_t i = head; i < end; i += lanes) hn::Stream(hn::LoadU(d, in + i), d, out + i);
  std::memcpy(out + end, in + end, static_cast<size_t>(n - end));
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

// Four pixels of four rows. Only inside of the tile more than their 12 bytes are read and written.
template <bool inside>
HWY_INLINE void transpose_four(uint8_t* out, int64_t out_step, const uint8_t* in, int64_t in_step, bool last_rows) {
  const hn::FixedTag<uint8_t, 16> d;
  const hn::Repartition<uint32_t, decltype(d)> words;
  const hn::Repartition<uint64_t, decltype(d)> pairs;
  const auto spread = hn::LoadU(d, kWordsOfTriples.data()), packed = hn::LoadU(d, kTriplesOfWords<16>.data());
  const auto row = [&](int i) {
    if constexpr (inside) {
      return hn::BitCast(words, hn::TableLookupBytes(hn::LoadU(d, in + i * in_step), spread));
    } else {
      alignas(16) uint8_t four[16] = {};
      std::memcpy(four, in + i * in_step, 12);
      return hn::BitCast(words, hn::TableLookupBytes(hn::Load(d, four), spread));
    }
  };
  const auto a = row(0), b = row(1), c = row(2), e = row(3);
  const auto low = hn::BitCast(pairs, hn::InterleaveLower(words, a, b)),
             high = hn::BitCast(pairs, hn::InterleaveUpper(words, a, b)),
             next_low = hn::BitCast(pairs, hn::InterleaveLower(words, c, e)),
             next_high = hn::BitCast(pairs, hn::InterleaveUpper(words, c, e));
  const auto store = [&](int i, auto column) {
    const auto made = hn::TableLookupBytes(hn::BitCast(d, column), packed);
    if (!last_rows) return hn::StoreU(made, d, out + i * out_step);
    alignas(16) uint8_t four[16];
    hn::Store(made, d, four);
    std::memcpy(out + i * out_step, four, 12);
  };
  store(0, hn::InterleaveLower(pairs, low, next_low));
  store(1, hn::InterleaveUpper(pairs, low, next_low));
  store(2, hn::InterleaveLower(pairs, high, next_high));
  store(3, hn::InterleaveUpper(pairs, high, next_high));
}

void transpose_bytes(uint8_t* out, int64_t out_step, const uint8_t* in, int64_t in_step, int64_t columns,
                     int64_t rows) {
  // Hardware does not foresee where the next rows of both begin.
  for (int64_t y = rows; y < 2 * rows; y++)
    for (int64_t k = 0; k < 3 * columns; k += 64) __builtin_prefetch(in + y * in_step + k);
  for (int64_t x = 0; x < columns; x++)
    for (int64_t k = 0; k < 3 * rows; k += 64) __builtin_prefetch(out + x * out_step + 3 * rows + k, 1);
  int64_t x = 0;
  for (; x + 4 <= columns; x += 4) {
    int64_t y = 0;
    for (; y + 4 <= rows; y += 4) {
      uint8_t* to = out + x * out_step + 3 * y;
      const uint8_t* from = in + y * in_step + 3 * x;
      const bool last = y + 6 > rows;
      x + 6 <= columns ? transpose_four<true>(to, out_step, from, in_step, last)
                       : transpose_four<false>(to, out_step, from, in_step, last);
    }
    for (; y < rows; y++)
      for (int i = 0; i < 4; i++) std::memcpy(out + (x + i) * out_step + 3 * y, in + y * in_step + 3 * (x + i), 3);
  }
  for (; x < columns; x++)
    for (int64_t y = 0; y < rows; y++) std::memcpy(out + x * out_step + 3 * y, in + y * in_step + 3 * x, 3);
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
HWY_EXPORT(stream_bytes);
HWY_EXPORT(interleave_bytes);
HWY_EXPORT(interleave_words);
HWY_EXPORT(split_bytes);
HWY_EXPORT(mirror_bytes);
HWY_EXPORT(transpose_bytes);
HWY_EXPORT(pack_triples);

namespace {

// Of the cache that the processors share. Machines on which Linux does not say it have about that much.
int64_t bytes_of_cache() {
  int64_t kilobytes = 0;
  std::ifstream("/sys/devices/system/cpu/cpu0/cache/index3/size") >> kilobytes;
  return (kilobytes > 0 ? kilobytes : 32 << 10) << 10;
}

struct LargestInCache {
  const int64_t bytes = bytes_of_cache() / 3;  // of more, little is left when it is read
};

thread_local bool stores_past_cache = false;

}  // namespace

PastCache::PastCache(int64_t bytes_of_output) : before_(stores_past_cache) {
  static constinit MadeOnce<LargestInCache> largest;
  stores_past_cache = HWY_ARCH_X86 && bytes_of_output > largest.get().bytes;
}
PastCache::~PastCache() {
  if (stores_past_cache) hwy::FlushStream();
  stores_past_cache = before_;
}
bool past_cache() { return stores_past_cache; }

void store_row(void* out, const void* in, int64_t bytes) {
  if (!stores_past_cache || bytes < kShortRow) return copy_row(out, in, bytes);
  HWY_DYNAMIC_DISPATCH(stream_bytes)(static_cast<uint8_t*>(out), static_cast<const uint8_t*>(in), bytes);
}

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
void mirror(uint8_t* out, const uint8_t* last, int64_t n) {
  if (!stores_past_cache) return HWY_DYNAMIC_DISPATCH(mirror_bytes)(out, last, n);
  uint8_t made[kPastCacheBlock];
  constexpr int64_t kPixels = kPastCacheBlock / 3;
  for (int64_t i = 0; i < n; i += kPixels) {
    const int64_t count = std::min(kPixels, n - i);
    HWY_DYNAMIC_DISPATCH(mirror_bytes)(made, last - 3 * i, count);
    store_row(out + 3 * i, made, 3 * count);
  }
}
void transpose_triples(uint8_t* out, int64_t out_step, const uint8_t* in, int64_t in_step, int64_t columns,
                       int64_t rows) {
  HWY_DYNAMIC_DISPATCH(transpose_bytes)(out, out_step, in, in_step, columns, rows);
}
void take_triples(uint8_t* out, const uint32_t* words, int64_t n) { HWY_DYNAMIC_DISPATCH(pack_triples)(out, words, n); }

}  // namespace avida
#endif
