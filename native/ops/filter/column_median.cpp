#include "ops/filter/column_median.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/vectors.h"
#include "device/macros.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/filter/column_median.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AVIDA_COLUMN_MEDIAN
#define AVIDA_COLUMN_MEDIAN
namespace avida {
namespace {

// How many elements are at most 0, 1, ... 15, counted in 16 bits: the upper halves of bytes, or the lower halves of
// those with one upper half.
typedef int16_t Counts __attribute__((vector_size(32), aligned(2), may_alias));

struct Histogram {
  Counts upper;
  Counts lower[16];  // for each upper half
};

// What one more element adds: 1 from its own value on.
struct alignas(32) CountTable {
  int16_t counts[16][16];
};
constexpr CountTable kOneMore = [] {
  CountTable table{};
  for (int value = 0; value < 16; value++)
    for (int k = value; k < 16; k++) table.counts[value][k] = 1;
  return table;
}();
AVIDA_INLINE const Counts& one_more(int value) { return reinterpret_cast<const Counts&>(kOneMore.counts[value]); }

// The histograms of the columns of a stripe; those beyond the border are the outermost ones.
struct Columns {
  const Histogram* first;
  int64_t begin, inner, width;  // the column of the first one; columns of the image

  AVIDA_INLINE const Histogram& at(int64_t x, int64_t c) const {
    x = x < 0 ? 0 : x < width ? x : width - 1;
    return first[(x - begin) * inner + c];
  }
};

}  // namespace
}  // namespace avida
#endif

HWY_BEFORE_NAMESPACE();
namespace avida::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The value of element number `rank` in ascending order: how many counts do not go beyond it.
HWY_INLINE int value_of_rank(const Counts& counts, int rank) {
  const hn::CappedTag<int16_t, 16> d;
  const auto limit = hn::Set(d, static_cast<int16_t>(rank));
  int16_t each[16];
  std::memcpy(each, &counts, sizeof(counts));
  size_t beyond = 0;
  for (size_t k = 0; k < 16; k += hn::Lanes(d)) beyond += hn::CountTrue(d, hn::Gt(hn::LoadU(d, each + k), limit));
  return 16 - static_cast<int>(beyond);
}

void add_row(Histogram* columns, const uint8_t* row, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    int upper = row[i] >> 4;
    columns[i].upper += one_more(upper);
    columns[i].lower[upper] += one_more(row[i] & 15);
  }
}

void replace_row(Histogram* columns, const uint8_t* added, const uint8_t* removed, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    int upper = added[i] >> 4, upper_removed = removed[i] >> 4;
    columns[i].upper += one_more(upper) - one_more(upper_removed);
    columns[i].lower[upper_removed] -= one_more(removed[i] & 15);
    columns[i].lower[upper] += one_more(added[i] & 15);
  }
}

// Channel c of columns [begin, end) of a row. `radius` and `half` are those of the window.
void median_row(uint8_t* out, const Columns& columns, int64_t c, int64_t begin, int64_t end, int64_t radius, int half) {
  Histogram sum;  // of the columns under the window; lower[k] as they were at the column made[k]
  int64_t made[16];
  std::fill_n(made, 16, begin - 2 * radius - 2);
  sum.upper = Counts{};
  for (int64_t x = begin - radius; x <= begin + radius; x++) sum.upper += columns.at(x, c).upper;
  for (int64_t x = begin; x < end; x++) {
    if (x > begin) sum.upper += columns.at(x + radius, c).upper - columns.at(x - radius - 1, c).upper;
    int upper = value_of_rank(sum.upper, half);
    int below = upper ? sum.upper[upper - 1] : 0;
    Counts lower = sum.lower[upper];
    int64_t from = made[upper];
    if (x - from > radius) {
      lower = Counts{};
      for (int64_t k = x - radius; k <= x + radius; k++) lower += columns.at(k, c).lower[upper];
    } else {
      for (; from < x; from++)
        lower += columns.at(from + radius + 1, c).lower[upper] - columns.at(from - radius, c).lower[upper];
    }
    sum.lower[upper] = lower;
    made[upper] = x;
    out[x * columns.inner + c] = static_cast<uint8_t>(upper * 16 + value_of_rank(lower, half - below));
  }
}

}  // namespace avida::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida {

HWY_EXPORT(add_row);
HWY_EXPORT(replace_row);
HWY_EXPORT(median_row);

constexpr int64_t kStripeBytes = 512 << 10;  // of histograms, which should stay in the cache

bool column_median_fits(const Reach& reach) { return reach.size(1) * reach.size(2) <= 0x7fff; }

void column_median(uint8_t* out, const uint8_t* in, const Space& space, const Reach& reach, int64_t begin,
                   int64_t end) {
  const int64_t n = space.row_elements(), inner = space.inner, height = space.size[1], width = space.size[2];
  const int64_t radius = reach.before[2], half = reach.size(1) * reach.size(2) / 2;
  const int64_t column_bytes = static_cast<int64_t>(sizeof(Histogram)) * inner;
  const int64_t stripe = std::max(kStripeBytes / column_bytes - 2 * radius, 2 * radius + 16);
  std::vector<Histogram> histograms;
  for (int64_t x = 0; x < width; x += stripe) {
    int64_t x_end = std::min(width, x + stripe), first = std::max<int64_t>(0, x - radius);
    int64_t elements = (std::min(width, x_end + radius) - first) * inner;
    auto row = [&](int64_t y) { return in + border_index<int64_t>(Border::clamp, y, height) * n + first * inner; };
    histograms.assign(elements, Histogram{});
    for (int64_t y = begin - reach.before[1]; y <= begin + reach.after[1]; y++)
      HWY_DYNAMIC_DISPATCH(add_row)(histograms.data(), row(y), elements);
    for (int64_t y = begin; y < end; y++) {
      Columns columns = {histograms.data(), first, inner, width};
      for (int64_t c = 0; c < inner; c++)
        HWY_DYNAMIC_DISPATCH(median_row)(out + y * n, columns, c, x, x_end, radius, static_cast<int>(half));
      if (y + 1 < end)
        HWY_DYNAMIC_DISPATCH(replace_row)(histograms.data(), row(y + 1 + reach.after[1]), row(y - reach.before[1]),
                                          elements);
    }
  }
}

}  // namespace avida
#endif
