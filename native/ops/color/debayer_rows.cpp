#include "ops/color/debayer_rows.h"

#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/color/debayer_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace avida::HWY_NAMESPACE {

using ops::Demosaic;
using ops::SensorRows;

// Calls many(x) for as many columns as a vector has, or one(x), until all columns are made; some are made twice.
template <class Many, class One>
HWY_INLINE void each_column(int width, int lanes, const Many& many, const One& one) {
  const int end = width - 1;
  int x = 1;
  for (; x + lanes <= end; x += lanes) many(x);
  if (x < end && end > lanes) return many(end - lanes);
  for (; x < end; x++) one(x);
}

// The mean, rounded half up, without sums that need more bits. The mean of two means is too large by one where one of
// them was rounded up, and the last one is.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V mean_of_four(D d, V a, V b, V c, V e) {
  const V first = hn::AverageRound(a, b), second = hn::AverageRound(c, e);
  const V rounded = hn::And(hn::Or(hn::Xor(a, b), hn::Xor(c, e)), hn::Xor(first, second));
  return hn::Sub(hn::AverageRound(first, second), hn::And(rounded, hn::Set(d, 1)));
}

// demosaic() of many pixels.
template <bool edge_aware, class T>
HWY_INLINE void make_colors(T* HWY_RESTRICT out, const SensorRows<T>& rows) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto change = [](V a, V b) { return hn::Sub(hn::Max(a, b), hn::Min(a, b)); };
  const auto is_second = hn::MaskFromVec(hn::BitCast(
      d, hn::Set(hn::RepartitionToWide<decltype(d)>(), static_cast<hwy::MakeWide<T>>(~T(0) << 8 * sizeof(T)))));
  const auto many = [&](int x) {
    const auto at = [&](const T* row, int step) { return hn::LoadU(d, row + x + step); };
    const V left = at(rows.row, -1), right = at(rows.row, 1), above = at(rows.upper, 0), below = at(rows.lower, 0);
    const V center = at(rows.row, 0), across = hn::AverageRound(left, right), down = hn::AverageRound(above, below);
    const V corners = mean_of_four(d, at(rows.upper, -1), at(rows.upper, 1), at(rows.lower, -1), at(rows.lower, 1));
    V green;
    if constexpr (edge_aware)
      green = hn::IfThenElse(hn::Gt(change(left, right), change(above, below)), down, across);
    else
      green = mean_of_four(d, left, right, above, below);
    const bool green_first = ((x ^ rows.green_at) & 1) == 0;
    const auto choose = [&](V of_green, V of_other) {
      return green_first ? hn::IfThenElse(is_second, of_other, of_green)
                         : hn::IfThenElse(is_second, of_green, of_other);
    };
    const V own = choose(across, center), other = choose(down, corners);
    store_interleaved(rows.blue ? other : own, choose(center, green), rows.blue ? own : other, d, out + 3 * x);
  };
  const auto one = [&](int x) {
    const T is_green = static_cast<T>((x ^ rows.green_at) & 1 ? 0 : ~0);
    const auto made = ops::demosaic<edge_aware>(ops::Neighbourhood<T>(rows.upper, rows.row, rows.lower, x), is_green);
    out[3 * x] = rows.blue ? made.other : made.own;
    out[3 * x + 1] = made.green;
    out[3 * x + 2] = rows.blue ? made.own : made.other;
  };
  each_column(rows.width, static_cast<int>(hn::Lanes(d)), many, one);
}

template <class T>
HWY_INLINE void make_gray(T* HWY_RESTRICT out, const SensorRows<T>& rows, int from, int to) {
  const ops::GrayWeights weights(rows.blue);
  for (int x = from; x < to; x++) {
    const ops::Neighbourhood<T> at(rows.upper, rows.row, rows.lower, x);
    out[x] = static_cast<T>(ops::demosaic_gray(at, ((x ^ rows.green_at) & 1) == 0, weights.own, weights.other));
  }
}

// demosaic_gray() of many bytes: both sums are brought to 16 bits of fraction, and differ in their weights only.
HWY_INLINE void make_gray_bytes(uint8_t* HWY_RESTRICT out, const SensorRows<uint8_t>& rows) {
  const hn::ScalableTag<int16_t> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const hn::RepartitionToWide<decltype(d)> sums;
  using V = hn::Vec<decltype(d)>;
  const ops::GrayWeights weights(rows.blue);
  const int green = 9617, own = static_cast<int>(weights.own), other = static_cast<int>(weights.other);
  // For products of pairs of numbers: the weights of pixels in turns, two for each. [1]: the first one is green.
  const auto in_turns = [&](int even, int odd) {
    return hn::BitCast(d, hn::OddEven(hn::Set(sums, odd), hn::Set(sums, even)));
  };
  const int inner_green = green | 2 * own << 16, inner_other = own | green << 16;  // centre, sides
  const int outer_green = 2 * other, outer_other = green | other << 16;            // above and below, corners
  const V inner[] = {in_turns(inner_other, inner_green), in_turns(inner_green, inner_other)};
  const V outer[] = {in_turns(outer_other, outer_green), in_turns(outer_green, outer_other)};
  const auto many = [&](int x) {
    const auto at = [&](const uint8_t* row, int step) { return hn::PromoteTo(d, hn::LoadU(bytes, row + x + step)); };
    const bool green_first = ((x ^ rows.green_at) & 1) == 0;
    const V center = hn::ShiftLeft<2>(at(rows.row, 0)), across = hn::Add(at(rows.row, -1), at(rows.row, 1));
    const V down = hn::Add(at(rows.upper, 0), at(rows.lower, 0));
    const V corners =
        hn::Add(hn::Add(at(rows.upper, -1), at(rows.upper, 1)), hn::Add(at(rows.lower, -1), at(rows.lower, 1)));
    const auto sum = [&](V first, V second) {
      const auto half = hn::Set(sums, 1 << 15);
      return hn::ShiftRight<16>(
          add_products(sums, add_products(sums, half, first, inner[green_first]), second, outer[green_first]));
    };
    const auto low = sum(hn::InterleaveLower(d, center, across), hn::InterleaveLower(d, down, corners));
    const auto high = sum(hn::InterleaveUpper(d, center, across), hn::InterleaveUpper(d, down, corners));
    hn::StoreU(hn::DemoteTo(bytes, hn::ReorderDemote2To(d, low, high)), bytes, out + x);
  };
  each_column(rows.width, static_cast<int>(hn::Lanes(d)), many, [&](int x) { make_gray(out, rows, x, x + 1); });
}

template <class T>
HWY_INLINE void make_row(T* out, const SensorRows<T>& rows, Demosaic algorithm) {
  if (algorithm == Demosaic::edge_aware)
    make_colors<true>(out, rows);
  else
    make_colors<false>(out, rows);
}

void make_bytes(uint8_t* out, const SensorRows<uint8_t>& rows, Demosaic algorithm) {
  algorithm == Demosaic::gray ? make_gray_bytes(out, rows) : make_row(out, rows, algorithm);
}
void make_words(uint16_t* out, const SensorRows<uint16_t>& rows, Demosaic algorithm) {
  algorithm == Demosaic::gray ? make_gray(out, rows, 1, rows.width - 1) : make_row(out, rows, algorithm);
}

}  // namespace avida::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida::ops {

HWY_EXPORT(make_bytes);
HWY_EXPORT(make_words);

void debayer_row(uint8_t* out, const SensorRows<uint8_t>& rows, Demosaic algorithm) {
  HWY_DYNAMIC_DISPATCH(make_bytes)(out, rows, algorithm);
}
void debayer_row(uint16_t* out, const SensorRows<uint16_t>& rows, Demosaic algorithm) {
  HWY_DYNAMIC_DISPATCH(make_words)(out, rows, algorithm);
}

}  // namespace avida::ops
#endif
