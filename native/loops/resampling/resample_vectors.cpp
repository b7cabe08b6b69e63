// Resampling of bytes by vectors: the arithmetic of resample_bytes.cpp, many numbers at a time.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "core/vectors.h"
#include "loops/resampling/resample_packed.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loops/resampling/resample_vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/vectors-inl.h"

#ifndef AVIDA_RESAMPLE_VECTORS
#define AVIDA_RESAMPLE_VECTORS
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

void pack_taps(Taps& taps, int64_t channels) {
  if (channels == 1)
    pack_single(taps);
  else if (channels >= 3)
    pack_pixels(taps, channels, 2);
}

// The weights of pairs of rows. An odd last row is a pair with itself, and the weight 0.
struct RowPairs {
  int32_t weights[kMostTaps / 2];
  const int16_t* rows[kMostTaps];
  int64_t count;  // of rows, even

  RowPairs(const int16_t* const* given, const int16_t* given_weights, int64_t n) : count((n + 1) / 2 * 2) {
    for (int64_t k = 0; k < count; k++) rows[k] = given[std::min(k, n - 1)];
    for (int64_t k = 0; k < count; k += 2) {
      const unsigned second = k + 1 < n ? static_cast<uint16_t>(given_weights[k + 1]) : 0;
      weights[k / 2] = static_cast<int32_t>(static_cast<uint16_t>(given_weights[k]) | second << 16);
    }
  }
};

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

// Where the numbers of eight pixels, without gaps, are found in two packed registers.
template <int channels>
constexpr auto kPixelOrder = [] {
  std::array<int16_t, 32> order{};
  for (int i = 0; i < 8 * channels; i++)
    order[i] = static_cast<int16_t>(i / channels % 4 * 8 + i / channels / 4 * 4 + i % channels);
  return order;
}();

}  // namespace
}  // namespace avida::bytes
#endif

#if HWY_TARGET == HWY_AVX3_DL
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni");  // AVX3_DL has it, but Highway 1.0 does not say so to compilers
#else
HWY_BEFORE_NAMESPACE();
#endif
namespace avida::bytes::HWY_NAMESPACE {
using avida::HWY_NAMESPACE::add_products, avida::HWY_NAMESPACE::saturated_bytes;
namespace hn = hwy::HWY_NAMESPACE;

// Rows are filtered in vectors of 256 bits at most, in which the taps are packed. Shorter ones take them in two parts.
using Words = hn::CappedTag<int16_t, 16>;
using Longs = hn::Repartition<int32_t, Words>;
using Bytes = hn::Repartition<uint8_t, Words>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Words())), kParts = 16 / kLanes;

// Four pixels or single bytes: the even ones of a part, or the odd ones. `step` is 1 if they are odd.
HWY_INLINE hn::Vec<Bytes> load_pixels(const uint8_t* in, const int32_t* at, int part, int step) {
  if constexpr (kParts == 1) {
    const hn::Half<Bytes> half;
    return hn::Combine(Bytes(), hn::LoadU(half, in + at[2 + step]), hn::LoadU(half, in + at[step]));
  } else {
    return hn::LoadU(Bytes(), in + at[2 * part + step]);
  }
}

HWY_INLINE hn::Vec<Longs> add_taps(hn::Vec<Longs> sum, hn::Vec<Bytes> pixels, hn::Vec<Bytes> order,
                                   const int16_t* weights) {
  const auto values = hn::BitCast(Words(), hn::TableLookupBytesOr0(pixels, order));
  return add_products(Longs(), sum, values, hn::LoadU(Words(), weights));
}

HWY_INLINE void store_filtered(int16_t* out, hn::Vec<Longs> a, hn::Vec<Longs> b) {
  hn::StoreU(hn::ReorderDemote2To(Words(), hn::ShiftRight<kRowShift>(a), hn::ShiftRight<kRowShift>(b)), Words(), out);
}

HWY_INLINE hn::Vec<Bytes> order_of(const int8_t* bytes) {
  return hn::LoadDup128(Bytes(), reinterpret_cast<const uint8_t*>(bytes));
}

template <int channels, int rest_pairs, bool one_load>
HWY_INLINE void filter_pixels(int16_t* out, const uint8_t* in, const Taps& taps, int64_t full) {
  const hn::Vec<Bytes> first = order_of(shuffle_bytes<channels, 0>()), second = order_of(shuffle_bytes<channels, 1>()),
                       third = order_of(shuffle_bytes<channels, 2>());
  const auto half = hn::Set(Longs(), 1 << (kRowShift - 1));
  const int64_t quads = static_cast<int64_t>(taps.offsets.size()) / 4, pairs = 2 * (one_load ? 0 : full) + rest_pairs;
  const int32_t* at = taps.offsets.data();
  const int16_t* packed = taps.packed[0].weights;
  for (int64_t q = 0; q < quads; q++, at += 4, packed += pairs * 32)
    for (int part = 0; part < kParts; part++) {
      const int16_t* weights = packed + part * kLanes;
      const uint8_t* from = in;
      auto a = half, b = half;
      const auto add_pair = [&](hn::Vec<Bytes> even, hn::Vec<Bytes> odd, hn::Vec<Bytes> order) HWY_ATTR {
        a = add_taps(a, even, order, weights);
        b = add_taps(b, odd, order, weights + 16);
        weights += 32;
      };
      if constexpr (!one_load)
        for (int64_t i = 0; i < full; i++, from += 4 * channels) {
          const auto even = load_pixels(from, at, part, 0), odd = load_pixels(from, at, part, 1);
          add_pair(even, odd, first);
          add_pair(even, odd, second);
        }
      const auto even = load_pixels(from, at, part, 0), odd = load_pixels(from, at, part, 1);
      add_pair(even, odd, first);
      if constexpr (rest_pairs > 1) add_pair(even, odd, second);
      if constexpr (rest_pairs > 2) add_pair(even, odd, third);
      store_filtered(out + q * 16 + part * kLanes, a, b);
    }
}

HWY_INLINE void filter_single(int16_t* out, const uint8_t* in, const Taps& taps) {
  const auto half = hn::Set(Longs(), 1 << (kRowShift - 1));
  const int64_t groups = static_cast<int64_t>(taps.offsets.size()) / 4, pairs = (taps.count + 1) / 2;
  const int16_t* packed = taps.packed[0].weights;
  const uint8_t* masks = taps.masks.data();
  const int32_t* at = taps.offsets.data();
  for (int64_t g = 0; g < groups; g++, at += 4, packed += pairs * 32, masks += pairs * 64)
    for (int part = 0; part < kParts; part++) {
      const int16_t* weights = packed + part * kLanes;
      const uint8_t* orders = masks + part * 2 * kLanes;
      const auto even = load_pixels(in, at, part, 0), odd = load_pixels(in, at, part, 1);
      auto a = half, b = half;
      for (int64_t i = 0; i < pairs; i++, weights += 32, orders += 64) {
        a = add_taps(a, even, hn::LoadU(Bytes(), orders), weights);
        b = add_taps(b, odd, hn::LoadU(Bytes(), orders + 32), weights + 16);
      }
      store_filtered(out + g * 16 + part * kLanes, a, b);
    }
}

void filter_packed(int16_t* out, const uint8_t* in, const Taps& taps, int64_t channels) {
  if (taps.packed.empty()) return filter_plainly(out, in, taps, channels);
  if (channels == 1) return filter_single(out, in, taps);
  const Steps steps(taps.count, channels);
  with_steps(steps, channels, [&]<int c, int rest_pairs, bool one_load>() HWY_ATTR {
    filter_pixels<c, rest_pairs, one_load>(out, in, taps, steps.full);
  });
}

// Rows are mixed in vectors as long as possible, of which two become bytes.
using MixWords = hn::ScalableTag<int16_t>;
using MixLongs = hn::Repartition<int32_t, MixWords>;
using MixBytes = hn::Repartition<uint8_t, MixWords>;
constexpr int kMixLanes = static_cast<int>(hn::MaxLanes(MixWords()));

HWY_INLINE hn::Vec<MixLongs> add_long_products(hn::Vec<MixLongs> sum, hn::Vec<MixWords> a, hn::Vec<MixWords> b) {
#if HWY_TARGET == HWY_AVX3_DL
  return hn::Vec<MixLongs>{_mm512_dpwssd_epi32(sum.raw, a.raw, b.raw)};
#else
  return add_products(MixLongs(), sum, a, b);
#endif
}

// Numbers [i, i + 2 * kMixLanes) of every row become bytes.
HWY_INLINE hn::Vec<MixBytes> mix_numbers(const RowPairs& pairs, int64_t i) {
  const MixLongs d;
  const MixWords words;
  auto a = hn::Set(d, 1 << (kOutShift - 1)), b = a, c = a, e = a;
  for (int64_t k = 0; k < pairs.count; k += 2) {
    const int16_t *first = pairs.rows[k] + i, *second = pairs.rows[k + 1] + i;
    const auto weight = hn::BitCast(words, hn::Set(d, pairs.weights[k / 2]));
    const auto x = hn::LoadU(words, first), y = hn::LoadU(words, second);
    const auto z = hn::LoadU(words, first + kMixLanes), w = hn::LoadU(words, second + kMixLanes);
    a = add_long_products(a, hn::InterleaveLower(words, x, y), weight);
    b = add_long_products(b, hn::InterleaveUpper(words, x, y), weight);
    c = add_long_products(c, hn::InterleaveLower(words, z, w), weight);
    e = add_long_products(e, hn::InterleaveUpper(words, z, w), weight);
  }
  const auto low = hn::ReorderDemote2To(words, hn::ShiftRight<kOutShift>(a), hn::ShiftRight<kOutShift>(b));
  const auto high = hn::ReorderDemote2To(words, hn::ShiftRight<kOutShift>(c), hn::ShiftRight<kOutShift>(e));
  auto packed = hn::BitCast(d, saturated_bytes(MixBytes(), low, high));
  if constexpr (kMixLanes > 8) {  // every 128 bits were packed by themselves
    alignas(64) static constexpr auto order = [] {
      std::array<int32_t, kMixLanes / 2> order{};
      for (int k = 0; k < kMixLanes / 2; k++) order[k] = k % (kMixLanes / 4) / 2 * 4 + k / (kMixLanes / 4) * 2 + k % 2;
      return order;
    }();
    packed = hn::TableLookupLanes(packed, hn::SetTableIndices(d, order.data()));
  }
  return hn::BitCast(MixBytes(), packed);
}

#if HWY_TARGET == HWY_AVX3_DL

// `pairs` of taps, or as many as the last argument says.
template <int channels, int pairs>
HWY_INLINE void filter_windows(int16_t* out, const uint8_t* in, const Taps& taps, int64_t any_pairs) {
  const MixLongs d;
  const MixWords words;
  const auto half = hn::Set(d, 1 << (kRowShift - 1));
  const __m512i order = _mm512_loadu_si512(kPixelOrder<channels>.data());
  constexpr __mmask64 low_bytes = 0x5555555555555555;
  const Line* packed = taps.packed.data();
  const int64_t n = pairs ? pairs : any_pairs;
  const int32_t* offset = taps.offsets.data();
  for (const int32_t* end = offset + taps.offsets.size(); offset < end; offset += 2, out += 8 * channels) {
    hn::Vec<MixLongs> sum[2];
    for (int i = 0; i < 2; i++) {
      const __m512i bytes = _mm512_loadu_si512(in + offset[i]);
      sum[i] = half;
      for (int64_t p = 0; p < n; p++, packed += 2) {
        const __m512i values = _mm512_maskz_permutexvar_epi8(low_bytes, _mm512_loadu_si512(packed), bytes);
        sum[i] = add_long_products(sum[i], hn::Vec<MixWords>{values}, hn::LoadU(words, packed[1].weights));
      }
      sum[i] = hn::ShiftRight<kRowShift>(sum[i]);
    }
    _mm512_storeu_si512(out, _mm512_permutexvar_epi16(order, hn::ReorderDemote2To(words, sum[0], sum[1]).raw));
  }
}

template <int channels>
HWY_INLINE void filter_pixel_windows(int16_t* out, const uint8_t* in, const Taps& taps) {
  const int64_t pairs = (taps.count + 1) / 2;
  switch (pairs) {
    case 1:
      return filter_windows<channels, 1>(out, in, taps, pairs);
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

int row_lanes(int64_t channels) { return static_cast<int>(channels); }

void pack(Taps& taps, int64_t channels) {
  if (channels < 3 || !pack_windows(taps, channels)) pack_taps(taps, channels);
}

void filter_row(int16_t* out, const uint8_t* in, const Taps& taps, int64_t channels) {
  if (taps.windows)
    return channels == 3 ? filter_pixel_windows<3>(out, in, taps) : filter_pixel_windows<4>(out, in, taps);
  if (channels != 3) return filter_packed(out, in, taps, channels);
  const int64_t n = static_cast<int64_t>(taps.first.size());
  thread_local std::vector<int16_t> pixels;  // not from the pool: threads would wait for one another in every row
  pixels.resize(static_cast<size_t>(n * lanes_of(3) + 64));
  filter_packed(pixels.data(), in, taps, channels);
  for (int64_t x = 0; x < n; x++)
    for (int c = 0; c < 3; c++) out[x * 3 + c] = pixels[x * 4 + c];
}

void mix_rows(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int64_t count, int64_t n,
              int64_t channels) {
  const RowPairs pairs(rows, weights, count);
  const int64_t numbers = n * channels;
  int64_t i = 0;
  for (; i + 64 <= numbers; i += 64) hn::StoreU(mix_numbers(pairs, i), MixBytes(), out + i);
  if (i < numbers)  // rows are padded to full registers
    _mm512_mask_storeu_epi8(out + i, (1ull << (numbers - i)) - 1, mix_numbers(pairs, i).raw);
}

#else

// Stores the bytes without every fourth one.
HWY_INLINE void store_three(hn::Vec<MixBytes> mixed, uint8_t* out) {
  alignas(16) static constexpr uint8_t kThree[] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 255, 255, 255, 255};
  const auto three = hn::BitCast(MixLongs(), hn::TableLookupBytesOr0(mixed, hn::LoadDup128(MixBytes(), kThree)));
  if constexpr (kMixLanes == 16) {
    alignas(32) static constexpr int32_t kOrder[] = {0, 1, 2, 4, 5, 6, 3, 7};
    const hn::Half<MixBytes> half;
    const hn::Half<decltype(half)> quarter;
    const auto joined = hn::BitCast(MixBytes(), hn::TableLookupLanes(three, hn::SetTableIndices(MixLongs(), kOrder)));
    hn::StoreU(hn::LowerHalf(half, joined), half, out);
    hn::StoreU(hn::LowerHalf(quarter, hn::UpperHalf(half, joined)), quarter, out + 16);
  } else {
    alignas(64) int32_t each[hn::MaxLanes(MixLongs())];
    hn::Store(three, MixLongs(), each);
    for (int k = 0; k < kMixLanes / 8; k++) std::memcpy(out + 12 * k, each + 4 * k, 12);
  }
}

int row_lanes(int64_t channels) { return lanes_of(channels); }

void pack(Taps& taps, int64_t channels) { pack_taps(taps, channels); }

void filter_row(int16_t* out, const uint8_t* in, const Taps& taps, int64_t channels) {
  filter_packed(out, in, taps, channels);
}

void mix_rows(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int64_t count, int64_t n,
              int64_t channels) {
  const RowPairs pairs(rows, weights, count);
  constexpr int64_t kStep = 2 * kMixLanes;
  const int64_t numbers = n * lanes_of(channels), bytes = n * channels;
  int64_t i = 0, at = 0;
  const auto store = [&](uint8_t* to) HWY_ATTR {
    const auto mixed = mix_numbers(pairs, i);
    channels == 3 ? store_three(mixed, to) : hn::StoreU(mixed, MixBytes(), to);
  };
  for (; i + kStep <= numbers; i += kStep, at += channels == 3 ? kStep / 4 * 3 : kStep) store(out + at);
  if (i == numbers) return;
  uint8_t rest[kStep];  // rows are padded to full registers
  store(rest);
  std::memcpy(out + at, rest, bytes - at);
}

#endif

const Kernels& find_kernels() {
  static constexpr Kernels kernels{row_lanes, pack, filter_row, mix_rows};
  return kernels;
}

}  // namespace avida::bytes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida::bytes {

HWY_EXPORT(find_kernels);

const Kernels& kernels() { return HWY_DYNAMIC_DISPATCH(find_kernels)(); }

}  // namespace avida::bytes
#endif
