// A filter adds to each byte what it predicts from the bytes to the left, above, and above to the left. So a pixel
// waits for the one before it; but a row can be done while the row below follows one pixel behind. A vector has a pixel
// of each row, and all filters are computed for all of them: what does not belong to a row is masked.
#include "codecs/formats/png_filters.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/vectors.h"

// Vectors of 16 bytes, which every machine has: larger ones would hold more rows, for whose bytes pixels wait as long.
#include <hwy/highway.h>

namespace avida::codecs {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

enum Filter : uint8_t { kNone, kSub, kUp, kAverage, kPaeth };

using Bytes16 = hn::Full128<uint8_t>;
using Vec = hn::Vec<Bytes16>;

int paeth(int left, int above, int corner) {
  const int by_left = std::abs(above - corner), by_above = std::abs(left - corner);
  const int by_corner = std::abs(left + above - 2 * corner);
  if (by_left <= by_above && by_left <= by_corner) return left;
  return by_above <= by_corner ? above : corner;
}

// One byte after the other: for rows that are left over.
void undo_filter(Filter filter, const uint8_t* from, const uint8_t* above, uint8_t* to, int64_t bytes, int pixel) {
  for (int64_t i = 0; i < bytes; ++i) {
    const int left = i < pixel ? 0 : to[i - pixel], corner = i < pixel ? 0 : above[i - pixel];
    const int predicted = filter == kSub       ? left
                          : filter == kUp      ? above[i]
                          : filter == kAverage ? (left + above[i]) / 2
                          : filter == kPaeth   ? paeth(left, above[i], corner)
                                               : 0;
    to[i] = static_cast<uint8_t>(from[i] + predicted);
  }
}

void add_row(const uint8_t* from, const uint8_t* above, uint8_t* to, int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i) to[i] = static_cast<uint8_t>(from[i] + above[i]);
}

// The one of three that is nearest to left + above - corner, in arithmetic without sign: where the corner is not
// between the two others, it is not the nearest.
HWY_INLINE Vec paeth(Vec left, Vec above, Vec corner) {
  const Vec down = hn::SaturatedSub(above, corner), up = hn::SaturatedSub(corner, above);
  const Vec right = hn::SaturatedSub(left, corner), back = hn::SaturatedSub(corner, left);
  const Vec by_left = hn::Or(down, up), by_above = hn::Or(right, back);
  const Vec nearer = hn::Min(by_left, by_above);
  const Vec difference = hn::Sub(hn::Max(by_left, by_above), nearer);
  const Vec between = hn::Or(hn::Min(down, back), hn::Min(up, right));
  const Vec takes_corner = hn::Min(hn::SaturatedSub(nearer, difference), between);
  const Vec nearest = hn::IfThenElse(hn::Eq(nearer, by_left), left, above);
  return hn::IfThenElse(hn::Eq(takes_corner, hn::Zero(Bytes16())), nearest, corner);
}

// `Slot` holds a pixel of `pixel` bytes; the vector has one for each row.
template <class Slot, int pixel>
class Wave {
 public:
  static constexpr int kRows = 16 / sizeof(Slot);

  explicit Wave(const FilteredRows& filtered) : above_(filtered.above), width_(filtered.bytes / pixel) {
    alignas(16) uint8_t masks[4][16];
    for (int row = 0; row < kRows; ++row) {
      const uint8_t* from = filtered.from + row * (filtered.bytes + 1);
      from_[row] = from + 1, to_[row] = filtered.to + row * filtered.stride;
      for (int filter = kSub; filter <= kPaeth; ++filter)
        std::memset(masks[filter - 1] + row * sizeof(Slot), *from == filter ? 255 : 0, sizeof(Slot));
    }
    for (int i = 0; i < 4; ++i) masks_[i] = hn::Load(Bytes16(), masks[i]);
  }

  void run() {
    State state{hn::Zero(Bytes16()), hn::Zero(Bytes16())};
    const int64_t steps = width_ + kRows - 1;
    int64_t step = 0;
    for (; step < std::min<int64_t>(kRows - 1, steps); ++step) take_step<true>(state, step);
    for (; step < width_ - 1; ++step) take_step<false>(state, step);
    for (; step < steps; ++step) take_step<true>(state, step);
  }

 private:
  using Slots = hn::Repartition<Slot, Bytes16>;
  struct State {
    Vec made, above;  // of the step before
  };

  static Slot load(const uint8_t* from) {
    Slot slot;
    std::memcpy(&slot, from, sizeof(Slot));
    return slot;
  }

  // At an edge some rows have no pixel in this step, or their last one, behind which nothing may be written.
  template <bool edge>
  HWY_INLINE void take_step(State& state, int64_t step) {
    const Slots slots;
    auto raw = hn::Zero(slots);
    for (int row = 0; row < kRows; ++row)
      if (!edge || has(row, step)) raw = hn::InsertLane(raw, row, load(from_[row] + (step - row) * pixel));
    auto above = hn::ShiftLeftLanes<1>(hn::BitCast(slots, state.made));
    if (!edge || has(0, step)) above = hn::InsertLane(above, 0, load(above_ + step * pixel));
    const Vec made = predicted(state, hn::BitCast(Bytes16(), raw), hn::BitCast(Bytes16(), above));
    state = {edge ? started(made, step) : made, hn::BitCast(Bytes16(), above)};
    for (int row = 0; row < kRows; ++row)
      if (!edge || has(row, step)) store<edge>(row, step, hn::ExtractLane(hn::BitCast(slots, made), row));
  }

  HWY_INLINE Vec predicted(const State& state, Vec raw, Vec above) const {
    const Bytes16 bytes;
    const Vec left = state.made;
    const Vec odd = hn::And(hn::Xor(left, above), hn::Set(bytes, 1));
    const Vec average = hn::Sub(hn::AverageRound(left, above), odd);
    const Vec simple = hn::Or(hn::And(left, masks_[kSub - 1]), hn::And(above, masks_[kUp - 1]));
    const Vec others = hn::Add(raw, hn::Or(simple, hn::And(average, masks_[kAverage - 1])));
    return hn::Add(others, hn::And(paeth(left, above, state.above), masks_[kPaeth - 1]));
  }

  bool has(int row, int64_t step) const { return step >= row && step - row < width_; }

  // What lies before the first pixel of a row is zero.
  static Vec started(Vec made, int64_t step) {
    const Slots slots;
    const auto begun = hn::FirstN(slots, static_cast<size_t>(step) + 1);
    return hn::BitCast(Bytes16(), hn::IfThenElseZero(begun, hn::BitCast(slots, made)));
  }

  template <bool edge>
  HWY_INLINE void store(int row, int64_t step, Slot made) {
    constexpr size_t size = edge || pixel <= static_cast<int>(sizeof(Slot)) / 2 ? pixel : sizeof(Slot);
    std::memcpy(to_[row] + (step - row) * pixel, &made, size);
  }

  const uint8_t* above_;
  const int64_t width_;
  const uint8_t* from_[kRows];
  uint8_t* to_[kRows];
  Vec masks_[4];
};

template <class Slot, int pixel>
int undo_wave(const FilteredRows& filtered, int rows) {
  if (rows < Wave<Slot, pixel>::kRows) return 0;
  Wave<Slot, pixel>(filtered).run();
  return Wave<Slot, pixel>::kRows;
}

int undo_wave(const FilteredRows& filtered, int rows) {
  switch (filtered.pixel) {
    case 1:
      return undo_wave<uint32_t, 1>(filtered, rows);
    case 2:
      return undo_wave<uint32_t, 2>(filtered, rows);
    case 3:
      return undo_wave<uint32_t, 3>(filtered, rows);
    case 4:
      return undo_wave<uint32_t, 4>(filtered, rows);
    case 6:
      return undo_wave<uint64_t, 6>(filtered, rows);
    default:
      return undo_wave<uint64_t, 8>(filtered, rows);
  }
}

// A row whose bytes do not wait for each other, or that is left over.
void undo_row(const FilteredRows& filtered) {
  const auto filter = static_cast<Filter>(*filtered.from);
  const uint8_t* from = filtered.from + 1;
  if (filter == kNone)
    std::memcpy(filtered.to, from, filtered.bytes);
  else if (filter == kUp)
    add_row(from, filtered.above, filtered.to, filtered.bytes);
  else
    undo_filter(filter, from, filtered.above, filtered.to, filtered.bytes, filtered.pixel);
}

bool is_simple(uint8_t filter) { return filter == kNone || filter == kUp; }

}  // namespace

void undo_filters(const FilteredRows& filtered, int rows) {
  FilteredRows rest = filtered;
  while (rows > 0) {
    int done = is_simple(*rest.from) ? 0 : undo_wave(rest, rows);
    if (!done) undo_row(rest), done = 1;
    rest.from += done * (rest.bytes + 1);
    rest.above = rest.to + (done - 1) * rest.stride;
    rest.to += done * rest.stride;
    rows -= done;
  }
}

}  // namespace avida::codecs
