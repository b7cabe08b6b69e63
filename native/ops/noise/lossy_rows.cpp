#include "ops/noise/lossy_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/noise/lossy_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codecs/jpeg/pixels/cosines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace avida::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using namespace codecs::HWY_NAMESPACE;

int whole_blocks(int width) { return (width + 15) / 16 * 16; }

// Pixels are read from here where reading a vector of them would go beyond the row. At least two more are there, since
// vectors of pixels end in the middle of one.
template <int channels>
class RowEnd {
 public:
  RowEnd(const uint8_t* row, int width, int lanes) : row_(row), begin_(std::max(0, (width - kMore) / lanes * lanes)) {
    const int count = width - begin_, whole = whole_blocks(width) - begin_;
    std::memcpy(pixels_, row + channels * begin_, static_cast<size_t>(channels * count));
    for (int x = count; x < whole; x++) std::memcpy(pixels_ + channels * x, row + channels * (width - 1), channels);
  }
  HWY_INLINE const uint8_t* at(int x) const {
    return x < begin_ ? row_ + channels * x : pixels_ + channels * (x - begin_);
  }

 private:
  static constexpr int kMore = 2;
  const uint8_t* row_;
  int begin_;
  uint8_t pixels_[channels * 128] = {};
};

// Sixteen bytes of every 24.
template <class D>
HWY_INLINE hn::Vec<D> load_parts(D d, const uint8_t* from) {
  if constexpr (hn::MaxLanes(d) == 16) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_parts(half, from + hn::MaxLanes(half) / 16 * 24), load_parts(half, from));
  }
}

// Of four neighbouring pixels in each 128 bits, in 16 bits of fraction.
struct Samples {
  Long luma, cb, cr;

  explicit HWY_INLINE Samples(const uint8_t* from) {
    const Longs longs;
    const Words words;
    const hn::Repartition<uint8_t, Words> bytes;
    alignas(16) static constexpr uint8_t kRedGreen[16] = {0, 255, 1, 255, 3, 255, 4,  255,
                                                          6, 255, 7, 255, 9, 255, 10, 255};
    alignas(16) static constexpr uint8_t kBlueGreen[16] = {2, 255, 1, 255, 5,  255, 4,  255,
                                                           8, 255, 7, 255, 11, 255, 10, 255};
    const auto read = load_parts(bytes, from);
    const auto pick = [&](const uint8_t* which) {
      return hn::BitCast(words, hn::TableLookupBytesOr0(read, hn::LoadDup128(bytes, which)));
    };
    const Word red_green = pick(kRedGreen), blue_green = pick(kBlueGreen);
    const Long middle = hn::Set(longs, (1 << 15) - 1);
    luma = hn::Add(hn::Add(dot<19595, 38470 / 2>(red_green), dot<7471, 38470 / 2>(blue_green)),
                   hn::Set(longs, (1 << 15) - (128 << 16)));
    cb = hn::Sub(hn::Sub(middle, dot<11059, 21709>(red_green)), dot<-32768, 0>(blue_green));
    cr = hn::Sub(hn::Sub(middle, dot<-32768, 27439>(red_green)), dot<5329, 0>(blue_green));
  }
};

// Of neighbouring pixels.
struct RowSamples {
  Word luma, cb, cr;

  explicit HWY_INLINE RowSamples(const uint8_t* from) {
    const Samples first(from), second(from + 12);
    const auto joined = [](Long a, Long b) {
      return hn::ReorderDemote2To(Words(), hn::ShiftRight<16>(a), hn::ShiftRight<16>(b));
    };
    luma = joined(first.luma, second.luma);
    cb = joined(first.cb, second.cb);
    cr = joined(first.cr, second.cr);
  }
};

void split_colors(const uint8_t* upper, const uint8_t* lower, int width, const LossyRows& out) {
  const Longs longs;
  const Words words;
  const hn::Rebind<int16_t, Longs> half;
  const int lanes = static_cast<int>(hn::Lanes(words));
  const RowEnd<3> upper_pixels(upper, width, lanes), lower_pixels(lower, width, lanes);
  const Long rounding = hn::Add(hn::And(hn::Iota(longs, 0), hn::Set(longs, 1)), hn::Set(longs, 1));
  for (int x = 0; x < whole_blocks(width); x += lanes) {
    for (int k = 0; k < 3 * lanes; k += 64) {  // the next two rows: processors do not foresee them
      hwy::Prefetch(upper + 6 * width + 3 * x + k);
      hwy::Prefetch(lower + 6 * width + 3 * x + k);
    }
    const RowSamples above(upper_pixels.at(x)), below(lower_pixels.at(x));
    hn::StoreU(above.luma, words, out.upper + x);
    hn::StoreU(below.luma, words, out.lower + x);
    const auto halved = [&](Word a, Word b) {
      return hn::DemoteTo(half, hn::ShiftRight<2>(hn::Add(dot<1, 1>(hn::Add(a, b)), rounding)));
    };
    hn::StoreU(halved(above.cb, below.cb), half, out.cb + x / 2);
    hn::StoreU(halved(above.cr, below.cr), half, out.cr + x / 2);
  }
}

void split_gray(const uint8_t* in, int width, int16_t* out) {
  const Words words;
  const hn::Rebind<uint8_t, Words> bytes;
  const int lanes = static_cast<int>(hn::Lanes(words));
  const RowEnd<1> pixels(in, width, lanes);
  for (int x = 0; x < width; x += lanes)
    hn::StoreU(hn::Sub(hn::PromoteTo(words, hn::LoadU(bytes, pixels.at(x))), hn::Set(words, 128)), words, out + x);
}

HWY_INLINE Word quantized(Word x, const LossyFactors& factors, int row) {
  const Words words;
  const hn::RebindToUnsigned<Words> d;
  const auto of = [&](const LossyFactors::Table& table) { return hn::LoadDup128(d, table.at + 8 * row); };
  const auto size = hn::Add(hn::BitCast(d, hn::Abs(x)), of(factors.half));
  const auto steps = hn::MulHigh(hn::MulHigh(size, of(factors.inverse)), of(factors.scale));
  const Word made = hn::BitCast(words, hn::Mul(steps, of(factors.step)));
  const Word sign = hn::ShiftRight<15>(x);
  return hn::Sub(hn::Xor(made, sign), sign);
}

void lose_detail(const int16_t* in, int64_t in_stride, int width, const LossyFactors& factors, uint8_t* out,
                 int64_t stride) {
  const Words words;
  const int lanes = static_cast<int>(hn::Lanes(words));
  for (int x = 0; x < width; x += lanes) {
    Word at[8];
    for (int y = 0; y < 8; y++) at[y] = hn::LoadU(words, in + in_stride * y + x);
    make_coefficients(at);
    for (int y = 0; y < 8; y++) at[y] = quantized(at[y], factors, y);
    store_samples<false>(at, out + x, stride);
  }
}

}  // namespace avida::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida::ops {

HWY_EXPORT(split_colors);
HWY_EXPORT(split_gray);
HWY_EXPORT(lose_detail);

void LossyFactors::set(int k, unsigned quantum) {
  const unsigned divisor = 8 * quantum;
  const int bits = std::bit_width(divisor - 1);  // the quotient of 1 << bits is below 2
  half.at[k] = static_cast<uint16_t>(divisor / 2);
  inverse.at[k] = static_cast<uint16_t>(((1u << (15 + bits)) + divisor - 1) / divisor);
  scale.at[k] = static_cast<uint16_t>(1u << (17 - bits));
  step.at[k] = static_cast<uint16_t>(quantum);
}

void split_colors(const uint8_t* upper, const uint8_t* lower, int width, const LossyRows& out) {
  HWY_DYNAMIC_DISPATCH(split_colors)(upper, lower, width, out);
}
void split_gray(const uint8_t* in, int width, int16_t* out) { HWY_DYNAMIC_DISPATCH(split_gray)(in, width, out); }
void lose_detail(const int16_t* in, int64_t in_stride, int width, const LossyFactors& factors, uint8_t* out,
                 int64_t stride) {
  HWY_DYNAMIC_DISPATCH(lose_detail)(in, in_stride, width, factors, out, stride);
}

}  // namespace avida::ops
#endif
