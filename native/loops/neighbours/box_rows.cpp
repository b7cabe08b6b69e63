#include "loops/neighbours/box_rows.h"

#include <algorithm>
#include <vector>

#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loops/neighbours/box_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace avida::HWY_NAMESPACE {

// sums[i] += added[i] - removed[i]; `removed` may be null. n is a multiple of the lanes, or sums and rows have room.
void move_sums(int16_t* HWY_RESTRICT sums, const uint8_t* HWY_RESTRICT added, const uint8_t* HWY_RESTRICT removed,
               int64_t n) {
  const hn::ScalableTag<int16_t> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto at = [&](const uint8_t* from) { return hn::PromoteTo(d, hn::LoadU(bytes, from)); };
  int64_t i = 0;
  if (removed)
    for (; i + lanes <= n; i += lanes)
      hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::Sub(at(added + i), at(removed + i))), d, sums + i);
  else
    for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, sums + i), at(added + i)), d, sums + i);
  for (; i < n; i++) sums[i] = static_cast<int16_t>(sums[i] + added[i] - (removed ? removed[i] : 0));
}

// The means of `size` sums that are `inner` elements apart, from sums[i] on. `fixed`: the size where it is known, or 0.
template <int fixed>
HWY_INLINE void mean_of_size(uint8_t* HWY_RESTRICT out, const int16_t* HWY_RESTRICT sums, int64_t inner,
                             int64_t any_size, int weight, int bits, int64_t n) {
  const int64_t size = fixed ? fixed : any_size;
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<int16_t, decltype(d)> words;
  const hn::Repartition<int32_t, decltype(d)> totals;
  const auto lanes = static_cast<int64_t>(hn::Lanes(words));
  // Products with 2^bits / 2, which rounds, as the second one of each pair.
  const int half = bits - 1, first = half / 2, second = half - first;
  const auto weights = hn::BitCast(words, hn::Set(totals, weight | 1 << second << 16));
  const auto rounds = hn::Set(words, static_cast<int16_t>(1 << first));
  const auto mean = [&](auto sum) {
    const auto low = add_products(totals, hn::Zero(totals), hn::InterleaveLower(words, sum, rounds), weights),
               high = add_products(totals, hn::Zero(totals), hn::InterleaveUpper(words, sum, rounds), weights);
    return hn::ReorderDemote2To(words, hn::ShiftRightSame(low, bits), hn::ShiftRightSame(high, bits));
  };
  const hn::Rebind<uint8_t, decltype(words)> half_bytes;
  const auto sum_at = [&](const int16_t* from) {
    auto sum = hn::LoadU(words, from);
    for (int64_t k = 1; k < size; k++) sum = hn::Add(sum, hn::LoadU(words, from + k * inner));
    return sum;
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::DemoteTo(half_bytes, mean(sum_at(sums + i))), half_bytes, out + i);
  for (; i < n; i++) {
    int sum = 0;
    for (int64_t k = 0; k < size; k++) sum += sums[i + k * inner];
    out[i] = static_cast<uint8_t>((sum * weight + (1 << half)) >> bits);
  }
}

void mean_row(uint8_t* out, const int16_t* sums, int64_t inner, int64_t size, int weight, int bits, int64_t n) {
  if (size == 3) return mean_of_size<3>(out, sums, inner, size, weight, bits, n);
  if (size == 5) return mean_of_size<5>(out, sums, inner, size, weight, bits, n);
  if (size == 7) return mean_of_size<7>(out, sums, inner, size, weight, bits, n);
  mean_of_size<0>(out, sums, inner, size, weight, bits, n);
}

}  // namespace avida::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida {

HWY_EXPORT(move_sums);
HWY_EXPORT(mean_row);

void box_means(uint8_t* out, const uint8_t* in, const Space& space, const BoxMean& box, int64_t begin, int64_t end) {
  const int64_t n = space.row_elements(), inner = space.inner, height = space.size[1], width = space.size[2];
  const int64_t radius = box.height_radius, margin = box.width_radius * inner;
  std::vector<int16_t> line(n + 2 * margin);
  int16_t* sums = line.data() + margin;
  for (int64_t row = begin; row < end; row++) {
    const int64_t y = row % height;
    const auto source = [&](int64_t at) {
      return in + (row - y + border_index<int64_t>(Border::reflect_101, at, height)) * n;
    };
    if (row == begin || y == 0) {
      std::fill_n(sums, n, int16_t{0});
      for (int64_t k = -radius; k <= radius; k++) HWY_DYNAMIC_DISPATCH(move_sums)(sums, source(y + k), nullptr, n);
    } else {
      HWY_DYNAMIC_DISPATCH(move_sums)(sums, source(y + radius), source(y - radius - 1), n);
    }
    for (int64_t k = 1; k <= box.width_radius; k++)
      for (const int64_t x : {-k, width - 1 + k})
        std::copy_n(sums + border_index<int64_t>(Border::reflect_101, x, width) * inner, inner, sums + x * inner);
    HWY_DYNAMIC_DISPATCH(mean_row)
    (out + row * n, line.data(), inner, 2 * box.width_radius + 1, box.weight, box.bits, n);
  }
}

}  // namespace avida
#endif
