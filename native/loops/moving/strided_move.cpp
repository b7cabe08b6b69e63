#include "loops/moving/strided_move.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/dtype.h"
#include "core/rows.h"
#include "loops/moving/row_items.h"
#include "loops/moving/strided_item.h"
#include "operator/launches.h"

namespace avida {
namespace {

using Axis = StridedCopy::Axis;
using Axes = std::span<const Axis>;

// Calls fn.operator()<k>() with the k of `numbers` that is n, if there is one.
template <int... numbers, class Fn>
void with_number(int64_t n, Fn&& fn) {
  static_cast<void>(((n == numbers && (fn.template operator()<numbers>(), true)) || ...));
}

// The rows of one copy, for the bodies of row_items.h.
class RowLaunch {
 public:
  RowLaunch(Launches& launches, void* out, const void* in, int64_t block)
      : launches_(launches), out_(static_cast<char*>(out)), in_(static_cast<const char*>(in)), block_(block) {}

  // False if the elements must be moved one by one.
  bool run(Axes axes) {
    if (axes.empty() || block_ > 16) return copy(axes);
    const Axis fast = axes.back();
    const Axes around = axes.first(axes.size() - 1);
    if (fast.out == block_ && fast.in == -block_) return reverse(around, fast.extent);
    if (block_ == 16) return copy(axes);
    return fast.out == block_ &&
           (split_channels(around, fast) || join_channels(around, fast) || transpose(around, fast));
  }

 private:
  bool copy(Axes axes) {
    auto rows = places(axes, block_, CopyRows::kPiece, CopyRows::kPiece);
    if (rows) launches_.add<CopyRows>(0, items_, *rows);
    return rows.has_value();
  }

  bool reverse(Axes around, int64_t elements) {
    if (block_ == ReversedTriples::kSize) {
      constexpr int kPiece = ReversedTriples::kPiece;
      if (elements * block_ >> 31) return false;
      auto rows = places(around, elements * block_, kPiece, kPiece);
      if (rows) launches_.add<ReversedTriples>(0, items_, *rows);
      return rows.has_value();
    }
    bool added = false;
    with_number<1, 2, 4, 6, 8, 12, 16>(block_, [&]<int size>() {
      using Item = ReversedRows<size>;
      auto rows = places(around, elements, Item::kPiece, Item::kAligned);
      if (rows) launches_.add<Item>(0, items_, *rows);
      added = rows.has_value();
    });
    return added;
  }

  // Interleaved channels of the input become planes.
  bool split_channels(Axes around, const Axis& pixels) {
    for (const Axis& channels : around)
      if (channels.in == block_ && pixels.in == channels.extent * block_)
        return add_pixels<SplitChannels>(without(around, channels), pixels, channels.extent, channels.out);
    return false;
  }

  // Interleaved channels of the output come from planes.
  bool join_channels(Axes around, const Axis& channels) {
    if (around.empty()) return false;
    const Axis& pixels = around.back();
    if (pixels.in != block_ || pixels.out != channels.extent * block_) return false;
    if (const int64_t bytes = pixels.extent * JoinTriples::kSize;
        block_ == 1 && channels.extent == JoinTriples::kSize && bytes >> 31 == 0) {
      auto rows = places(around.first(around.size() - 1), bytes, JoinTriples::kPiece, JoinTriples::kPiece);
      if (rows) launches_.add<JoinTriples>(0, items_, {*rows, channels.in});
      return rows.has_value();
    }
    return add_pixels<JoinChannels>(around.first(around.size() - 1), pixels, channels.extent, channels.in);
  }

  // Elements are contiguous along one axis of the input and along another of the output.
  bool transpose(Axes around, const Axis& columns) {
    constexpr int64_t kLeast = 8;  // of both axes: else most of a tile would be empty
    for (const Axis& rows : around) {
      if (rows.in != block_ || rows.extent < kLeast || columns.extent < kLeast) continue;
      const std::vector<Axis> others = without(around, rows);
      switch (block_) {
        case 1:
          return add_tiles<uint8_t>(others, rows, columns);
        case 2:
          return add_tiles<uint16_t>(others, rows, columns);
        case 3:
          return add_tiles<ThreeElements<uint8_t>>(others, rows, columns);
        case 4:
          return add_tiles<uint32_t>(others, rows, columns);
        case 8:
          return add_tiles<uint64_t>(others, rows, columns);
      }
    }
    return false;
  }

  template <class T>
  bool add_tiles(Axes around, const Axis& rows, const Axis& columns) {
    using Item = TransposeTile<T>;
    constexpr int64_t size = sizeof(T);
    uint64_t addresses = reinterpret_cast<uintptr_t>(out_) | reinterpret_cast<uintptr_t>(in_);
    if (around.size() > Item::kOuterAxes || addresses % alignof(T)) return false;
    auto tiles = [](int64_t extent) { return (extent + Item::kSide - 1) / Item::kSide; };
    int64_t items = tiles(rows.extent) * tiles(columns.extent);
    typename Item::Params params{.out = reinterpret_cast<T*>(out_),
                                 .in = reinterpret_cast<const T*>(in_),
                                 .row_tiles = static_cast<unsigned>(tiles(rows.extent)),
                                 .column_tiles = static_cast<unsigned>(tiles(columns.extent)),
                                 .rows = rows.extent,
                                 .columns = columns.extent,
                                 .row_step = rows.out / size,
                                 .column_step = columns.in / size,
                                 .extent = {1, 1, 1}};
    bool whole = rows.out % size == 0 && columns.in % size == 0;
    for (size_t d = Item::kOuterAxes - around.size(); const Axis& axis : around) {
      whole &= axis.out % size == 0 && axis.in % size == 0;
      items *= axis.extent;
      params.extent[d] = static_cast<unsigned>(axis.extent);
      params.out_step[d] = axis.out / size;
      params.in_step[d++] = axis.in / size;
    }
    if (!whole || items >> 31) return false;
    launches_.add<Item>(0, items, params);
    return true;
  }

  static std::vector<Axis> without(Axes axes, const Axis& one) {
    std::vector<Axis> others(axes.begin(), axes.end());
    others.erase(others.begin() + (&one - axes.data()));
    return others;
  }

  template <template <int size, int channels> class Item>
  bool add_pixels(Axes around, const Axis& pixels, int64_t channels, int64_t plane) {
    bool added = false;
    with_number<2, 3, 4>(channels, [&]<int count>() {
      with_number<1, 2, 4>(block_, [&]<int size>() {
        using Body = Item<size, count>;
        auto rows = places(around, pixels.extent, kPixelPiece, Body::kAligned);
        if (rows) launches_.add<Body>(0, items_, {*rows, plane});
        added = rows.has_value();
      });
    });
    return added;
  }

  // Pieces are aligned to `aligned` bytes; rows need one more if some of them begin elsewhere.
  std::optional<RowPlaces> places(Axes around, int64_t elements, int piece, int aligned) {
    if (around.size() > kRowAxes) return std::nullopt;
    constexpr Divisor kOne = Divisor::of(1);
    RowPlaces places{.out = out_, .in = in_, .pieces = kOne, .elements = elements, .extent = {kOne, kOne, kOne}};
    uint64_t begins = reinterpret_cast<uintptr_t>(out_);
    items_ = 1;
    size_t d = kRowAxes - around.size();
    for (const Axis& axis : around) {
      items_ *= axis.extent;
      begins |= static_cast<uint64_t>(axis.out);
      places.extent[d] = Divisor::of(axis.extent);
      places.out_step[d] = axis.out;
      places.in_step[d++] = axis.in;
    }
    const int64_t lead = begins % static_cast<uint64_t>(aligned) ? piece - 1 : 0;
    const int64_t pieces = (lead + elements + piece - 1) / piece;
    constexpr int64_t kMost = int64_t(1) << 31;  // the bodies count in 32 bits
    if (pieces >= kMost / items_) return std::nullopt;
    places.pieces = Divisor::of(pieces);
    items_ *= pieces;
    return places;
  }

  Launches& launches_;
  char* out_;
  const char* in_;
  int64_t block_;
  int64_t items_ = 0;
};

template <class T>
void launch_items(Launches& launches, void* out, const void* in, Axes axes) {
  typename StridedItem<T>::Params params{static_cast<T*>(out), static_cast<const T*>(in), 0, {}, {}, {}};
  constexpr int64_t size = sizeof(T);
  int64_t items = 1;
  for (const Axis& axis : axes) {
    items *= axis.extent;
    params.extent[params.axes] = axis.extent;
    params.out_step[params.axes] = axis.out / size;
    params.in_step[params.axes++] = axis.in / size;
  }
  launches.add<StridedItem<T>>(0, items, params);
}

}  // namespace

void StridedMove::launch(Launches& launches, void* out, const void* in) const {
  if (rows_ == 0) return;
  Axis axes[StridedItem<char>::kMostAxes];
  int n = std::copy_n(outer_, outer_axes_, axes) - axes;
  for (const Axis& axis : {slow_, fast_})
    if (axis.extent > 1) axes[n++] = axis;
  // Neighbouring items write neighbouring elements.
  std::stable_sort(axes, axes + n, [](const Axis& a, const Axis& b) { return a.out > b.out; });
  if (RowLaunch(launches, out, in, block_).run(std::span(axes, n))) return;
  // The widest access that divides every stride.
  uint64_t multiples =
      16 | static_cast<uint64_t>(block_) | reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in);
  for (const Axis& axis : std::span(axes, n)) multiples |= static_cast<uint64_t>(axis.out | axis.in);
  const int64_t unit = static_cast<int64_t>(multiples & -multiples);
  bool threes = block_ == 3 * unit && n > 0;
  for (const Axis& axis : std::span(axes, n)) threes &= axis.out % block_ == 0 && axis.in % block_ == 0;
  if (!threes && (block_ > unit || n == 0)) axes[n++] = {block_ / unit, unit, unit};
  auto launch = [&](auto type) {
    using T = typename decltype(type)::type;
    const std::span<const Axis> all(axes, n);
    threes ? launch_items<ThreeElements<T>>(launches, out, in, all) : launch_items<T>(launches, out, in, all);
  };
  switch (unit) {
    case 1:
      return launch(Type<uint8_t>{});
    case 2:
      return launch(Type<uint16_t>{});
    case 4:
      return launch(Type<uint32_t>{});
    case 8:
      return launch(Type<uint64_t>{});
    default:
      return launch(Type<SixteenBytes>{});
  }
}

void DenseMove::move(Launches* launches, void* out, const void* in, int64_t begin, int64_t end) const {
  if (launches)
    StridedMove(1, {bytes_}, {1}).launch(*launches, out, in);
  else if (begin < end)
    store_row(static_cast<char*>(out) + begin, static_cast<const char*>(in) + begin, end - begin);
}

}  // namespace avida
