#include "ops/color/gray_rows.h"

#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/color/gray_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace avida::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using avida::HWY_NAMESPACE::add_products, avida::HWY_NAMESPACE::load_interleaved, avida::HWY_NAMESPACE::saturated_bytes;

// A pixel is four words: the first two channels, the third, and 1 for the half that rounds.
HWY_INLINE void make_gray(uint8_t* HWY_RESTRICT out, const uint8_t* HWY_RESTRICT in, int64_t n, int first, int second,
                          int third) {
  constexpr int kHalf = 1 << (kGrayBits - 1);
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<int16_t, decltype(d)> words;
  const hn::Repartition<int32_t, decltype(d)> sums;
  const auto weights = hn::BitCast(words, hn::Set(sums, first | second << 16));
  const auto last_weights = hn::BitCast(words, hn::Set(sums, third | kHalf << 16));
  const auto zero = hn::Zero(d), one = hn::Set(d, 1);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    constexpr int kAhead = 4096;  // in bytes: hardware does not look beyond a page
    for (int64_t k = 0; k < 3 * lanes; k += 64) __builtin_prefetch(in + 3 * i + k + kAhead);
    __builtin_prefetch(out + i + kAhead);
    hn::Vec<decltype(d)> a, b, c;
    load_interleaved(d, in + 3 * i, a, b, c);
    auto sum = [&](auto two, auto rest) {
      const auto some = add_products(sums, hn::Zero(sums), hn::BitCast(words, two), weights);
      return hn::ShiftRight<kGrayBits>(add_products(sums, some, hn::BitCast(words, rest), last_weights));
    };
    auto half = [&](auto two, auto rest) {
      return hn::ReorderDemote2To(words, sum(hn::InterleaveLower(d, two, zero), hn::InterleaveLower(d, rest, zero)),
                                  sum(hn::InterleaveUpper(d, two, zero), hn::InterleaveUpper(d, rest, zero)));
    };
    const auto low = half(hn::InterleaveLower(d, a, b), hn::InterleaveLower(d, c, one));
    const auto high = half(hn::InterleaveUpper(d, a, b), hn::InterleaveUpper(d, c, one));
    hn::StoreU(saturated_bytes(d, low, high), d, out + i);
  }
  for (; i < n; i++)
    out[i] =
        static_cast<uint8_t>((in[3 * i] * first + in[3 * i + 1] * second + in[3 * i + 2] * third + kHalf) >> kGrayBits);
}

void make_gray_of_rgb(uint8_t* out, const uint8_t* in, int64_t n) {
  make_gray(out, in, n, kGrayWeights[0], kGrayWeights[1], kGrayWeights[2]);
}
void make_gray_of_bgr(uint8_t* out, const uint8_t* in, int64_t n) {
  make_gray(out, in, n, kGrayWeights[2], kGrayWeights[1], kGrayWeights[0]);
}

}  // namespace avida::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida::ops {

HWY_EXPORT(make_gray_of_rgb);
HWY_EXPORT(make_gray_of_bgr);

void gray_of_rgb(uint8_t* out, const uint8_t* in, int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(make_gray_of_rgb)(out, in, pixels);
}
void gray_of_bgr(uint8_t* out, const uint8_t* in, int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(make_gray_of_bgr)(out, in, pixels);
}

}  // namespace avida::ops
#endif
