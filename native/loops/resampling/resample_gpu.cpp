// Resampling on a GPU: images in tiles where they fit, all else in one pass for each axis, after the weights.
#include <algorithm>
#include <cmath>

#include "loops/items/kernel_types.h"
#include "loops/moving/launch_convert.h"
#include "loops/resampling/resample.h"
#include "loops/resampling/resample_bytes.h"
#include "loops/resampling/resample_taps.h"
#include "loops/resampling/resample_tile.h"
#include "operator/launches.h"

namespace avida {
namespace {

// What filters other than the triangle are read from.
const float* table_of(ResampleFilter filter, Launches& launches) {
  const bool reads_table =
      filter == ResampleFilter::cubic || filter == ResampleFilter::lanczos3 || filter == ResampleFilter::gaussian;
  return reads_table ? readable(&launches, filter_table(filter), filter_table_size(filter)) : nullptr;
}

// ---- Tiles ----------------------------------------------------------------------------------------------------------

int count_of(const ResampleAxis& axis) { return static_cast<int>(std::min<int64_t>(window_count(axis), axis.in)); }

// The most output rows, of `count` taps each, that can be made of `in_rows` rows; 0: not even one.
int64_t most_rows(const ResampleAxis& axis, int count, int64_t in_rows) {
  if (count > in_rows) return 0;
  // Positions are rounded, above all where they are summed up.
  const double slack = axis.filter == ResampleFilter::nearest ? 2 : 0.02;
  const double left = std::max(0.0, static_cast<double>(in_rows - count) - slack);
  const double step = std::fabs(static_cast<double>(axis.end) - axis.start) / static_cast<double>(axis.out);
  return 1 + static_cast<int64_t>(std::min(left / std::max(step, 1e-3), 1e6));
}

template <int channels>
bool launch_tiles_of(Launches& launches, const ImageResample& image, int64_t images, uint8_t* out, const uint8_t* in) {
  using Body = ResampleTile<channels>;
  const ResampleAxis &rows = *image.rows, &columns = *image.columns;
  const int row_count = count_of(rows), column_count = count_of(columns), column_window = (column_count + 1) / 2 * 2;
  constexpr int64_t kMostRows = 64;  // more would leave too few tiles for a single image
  const int64_t fit = std::min(most_rows(rows, row_count, Body::kInRows), kMostRows);
  if (fit == 0 || column_window > columns.in) return false;
  const int64_t down = (rows.out + fit - 1) / fit, tile_rows = (rows.out + down - 1) / down;
  const int64_t across = (columns.out + Body::kColumns - 1) / Body::kColumns, tiles = across * down;
  const int row_pairs = (row_count + 1) / 2, column_pairs = column_window / 2;
  const int64_t numbers = rows.out * (1 + row_pairs) + columns.out * (1 + column_pairs);
  // The kernel counts in 32 bits, within an image and within the rows that a thread passes at once.
  constexpr int64_t kMost = int64_t{1} << 30;
  if (rows.in * columns.in * channels > kMost || std::max(columns.in, columns.out) * channels > kMost / 64 ||
      images * tiles > kMost || tiles * across > kMost || numbers > kMost)
    return false;

  auto* memory = static_cast<int*>(launches.scratch(numbers * int64_t{sizeof(int)}));
  auto add_weights = [&](const ResampleAxis& axis, int count, int window, int pairs) {
    int* first = memory;
    auto* made = reinterpret_cast<unsigned*>(first + axis.out);
    memory += axis.out * (1 + pairs);
    launches.add<WeightPairsItem>(0, axis.out, {axis, table_of(axis.filter, launches), count, window, first, made});
    return WeightPairs{first, made, window, static_cast<int>(axis.out)};
  };
  const WeightPairs of_rows = add_weights(rows, row_count, row_count, row_pairs);
  const WeightPairs of_columns = add_weights(columns, column_count, column_window, column_pairs);
  launches.then();
  launches.add<Body>(0, images * tiles,
                     {out, in, of_rows, of_columns, static_cast<int>(rows.in), static_cast<int>(columns.in),
                      static_cast<int>(tile_rows), static_cast<int>(across), static_cast<int>(tiles),
                      inverse_of(static_cast<unsigned>(across))});
  return true;
}

// Where both axes are resampled and a tile of the output needs few enough rows.
bool launch_tiles(Launches& launches, const ImageResample& image, int64_t images, uint8_t* out, const uint8_t* in) {
  if (!image.rows || !image.columns) return false;
  check_not_empty(*image.rows);
  check_not_empty(*image.columns);
  switch (image.channels) {
    case 1:
      return launch_tiles_of<1>(launches, image, images, out, in);
    case 2:
      return launch_tiles_of<2>(launches, image, images, out, in);
    case 3:
      return launch_tiles_of<3>(launches, image, images, out, in);
    default:
      return launch_tiles_of<4>(launches, image, images, out, in);
  }
}

// ---- Passes ---------------------------------------------------------------------------------------------------------

// Scratch memory for all passes of one sample, allocated at once.
class Scratch {
 public:
  int64_t reserve(int64_t bytes) {
    const int64_t at = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return at;
  }
  void take(Launches& launches) { memory_ = static_cast<char*>(launches.scratch(bytes_)); }
  template <class T>
  T* at(int64_t offset) const {
    return reinterpret_cast<T*>(memory_ + offset);
  }

 private:
  int64_t bytes_ = 0;
  char* memory_ = nullptr;
};

struct Pass {
  ResampleAxis axis;
  int64_t outer, inner;                                              // what stands before and after the axis
  int64_t count = 0, first = 0, weights = 0, whole = 0, result = 0;  // of taps; offsets in the scratch memory

  bool moves_only() const { return axis.filter == ResampleFilter::nearest; }
  int64_t out_elements() const { return outer * axis.out * inner; }
};

struct Passes {
  Launches& launches;
  std::vector<Pass> list;
  Scratch scratch;

  void add(const ResampleAxis& axis, int64_t outer, int64_t inner) {
    check_not_empty(axis);
    Pass pass{axis, outer, inner};
    pass.count = std::min<int64_t>(window_count(axis), axis.in);
    pass.first = scratch.reserve(axis.out * int64_t{sizeof(int)});
    pass.weights = scratch.reserve(axis.out * pass.count * int64_t{sizeof(float)});
    list.push_back(pass);
  }

  // `whole`: as integers too. An element of an intermediate result has `bytes`; 0: there is none.
  void make_taps(bool whole, int64_t bytes) {
    for (Pass& pass : list) {
      if (whole) pass.whole = scratch.reserve(pass.axis.out * pass.count * int64_t{sizeof(int16_t)});
      pass.result = scratch.reserve(&pass == &list.back() ? 0 : pass.out_elements() * bytes);
    }
    scratch.take(launches);
    for (const Pass& pass : list) {
      launches.add<TapsItem>(0, pass.axis.out,
                             {pass.axis, table_of(pass.axis.filter, launches), pass.count, first(pass), weights(pass),
                              whole ? this->whole(pass) : nullptr});
    }
    launches.then();
  }

  int* first(const Pass& pass) const { return scratch.at<int>(pass.first); }
  float* weights(const Pass& pass) const { return scratch.at<float>(pass.weights); }
  int16_t* whole(const Pass& pass) const { return scratch.at<int16_t>(pass.whole); }

  void pick(const Pass& pass, void* out, const void* in, DType type) const {
    with_size_of(type, [&](auto bits) {
      using T = typename decltype(bits)::type;
      launches.add<PickItem<T>>(
          0, pass.out_elements(),
          {static_cast<T*>(out), static_cast<const T*>(in), first(pass), pass.axis.in, pass.axis.out, pass.inner});
    });
  }

  void mix(const Pass& pass, void* out, DType to, const void* in, DType from) const {
    with_kernel_types(to, from, [&](auto to_type, auto from_type) {
      using Item = ResampleItem<typename decltype(to_type)::type, typename decltype(from_type)::type>;
      launches.add<Item>(0, pass.out_elements(),
                         {out, in, static_cast<int>(to), static_cast<int>(from), first(pass), weights(pass), pass.count,
                          pass.axis.in, pass.axis.out, pass.inner});
    });
  }

  template <class To>
  void filter_bytes(const Pass& pass, To* out, const uint8_t* in) const {
    auto filter = [&]<int channels>() {
      launches.add<FilterBytesItem<To, channels>>(
          0, pass.outer * pass.axis.out,
          {out, in, first(pass), whole(pass), static_cast<int>(pass.count), pass.axis.in, pass.axis.out});
    };
    if (pass.inner == 1) return filter.template operator()<1>();
    if (pass.inner == 2) return filter.template operator()<2>();
    if (pass.inner == 3) return filter.template operator()<3>();
    filter.template operator()<4>();
  }

  template <class From>
  void mix_bytes(const Pass& pass, uint8_t* out, const From* in) const {
    using Item = MixBytesItem<From>;
    const bool aligned = pass.inner % kNeighbours == 0 && reinterpret_cast<uintptr_t>(out) % kNeighbours == 0 &&
                         reinterpret_cast<uintptr_t>(in) % (kNeighbours * sizeof(From)) == 0;
    launches.add<Item>(0, pass.outer * pass.axis.out * Item::items_per_row(pass.inner),
                       {out, in, first(pass), whole(pass), static_cast<int>(pass.count), aligned, pass.axis.in,
                        pass.axis.out, pass.inner});
  }
};

// How images that become floats are cut into tiles.
struct FloatTiles {
  int64_t tile_rows = 0, tile_columns = 0, across = 0, tiles = 0;

  // No tiles: a row of the output needs too many rows, or indices exceed 32 bits.
  FloatTiles(const ImageResample& image, int64_t images) {
    using Body = ResampleFloatTile<float>;
    if (!image.rows || !image.columns || image.channels > Body::kRow) return;
    const ResampleAxis &rows = *image.rows, &columns = *image.columns;
    const int64_t fit = std::min<int64_t>(most_rows(rows, count_of(rows), Body::kInRows), 64);
    if (fit == 0) return;
    const int64_t down = (rows.out + fit - 1) / fit;
    tile_rows = (rows.out + down - 1) / down;
    tile_columns = Body::kRow / image.channels;
    across = (columns.out + tile_columns - 1) / tile_columns;
    constexpr int64_t kMost = int64_t{1} << 30;
    if (rows.in * columns.in * image.channels <= kMost &&
        std::max(columns.in, columns.out) * image.channels <= kMost / 64 && images * across * down <= kMost &&
        rows.out * count_of(rows) <= kMost && columns.out * count_of(columns) <= kMost)
      tiles = across * down;
  }
};

// Images of bytes or floats that become floats, after the weights of both axes.
void launch_float_tiles(Passes& passes, const FloatTiles& cut, const ImageResample& image, int64_t images, float* out,
                        const void* in, DType type) {
  passes.make_taps(false, 0);
  auto taps_of = [&](const Pass& pass) {
    return FloatTaps{passes.first(pass), passes.weights(pass), static_cast<int>(pass.count),
                     static_cast<int>(pass.axis.out)};
  };
  auto add = [&]<class From>(const From* from) {
    passes.launches.add<ResampleFloatTile<From>>(
        0, images * cut.tiles,
        {out, from, taps_of(passes.list[1]), taps_of(passes.list[0]), static_cast<int>(image.in_rows),
         static_cast<int>(image.in_columns), static_cast<int>(image.channels), static_cast<int>(cut.tile_rows),
         static_cast<int>(cut.tile_columns), static_cast<int>(cut.across), static_cast<int>(cut.tiles)});
  };
  if (type == DType::uint8)
    add(static_cast<const uint8_t*>(in));
  else
    add(static_cast<const float*>(in));
}

}  // namespace

void Resample::launch(Launches& launches, void* out, const void* in) const {
  if (empty_) return;
  auto moves_only = [&](const std::optional<ResampleAxis>& axis) {
    return !axis || axis->filter == ResampleFilter::nearest;
  };
  bool moves = in_type_ == out_type_ && moves_only(image_.rows) && moves_only(image_.columns), mixed = false;
  for (const Mix& mix : mixes_) mixed |= mix.axis.filter != ResampleFilter::nearest;
  moves &= !mixed;
  // As on the CPU, which resamples the last axes of bytes in integers.
  const bool whole = in_type_ == DType::uint8 && out_type_ == DType::uint8 && !moves && !mixed && suits_bytes(image_);
  if (whole && mixes_.empty() &&
      launch_tiles(launches, image_, repeats_, static_cast<uint8_t*>(out), static_cast<const uint8_t*>(in)))
    return;

  Passes passes{launches, {}, {}};
  int64_t outer = 1;
  for (size_t k = 0; k < mixes_.size(); k++) {
    outer *= mixes_[k].repeats;
    passes.add(mixes_[k].axis, outer, mixes_[k].in_slice);
    outer *= mixes_[k].axis.out;
  }
  outer *= repeats_;
  if (image_.columns) passes.add(*image_.columns, outer * image_.in_rows, image_.channels);
  if (image_.rows) passes.add(*image_.rows, outer, image_.out_columns * image_.channels);
  if (passes.list.empty())
    return launch_convert(launches, out, out_type_, in, in_type_,
                          outer * image_.in_rows * image_.in_columns * image_.channels);

  const bool to_float = out_type_ == DType::float32 && (in_type_ == DType::uint8 || in_type_ == DType::float32);
  if (const FloatTiles cut(image_, outer); to_float && !moves && mixes_.empty() && cut.tiles > 0)
    return launch_float_tiles(passes, cut, image_, outer, static_cast<float*>(out), in, in_type_);

  passes.make_taps(whole, whole ? 2 : std::max(4, size_of(in_type_)));
  DType type = in_type_;
  for (size_t k = 0; k < passes.list.size(); k++) {
    const Pass& pass = passes.list[k];
    const bool last = k + 1 == passes.list.size(), in_image = k >= mixes_.size();
    void* to = last ? out : passes.scratch.at<void>(pass.result);
    if (moves || (!in_image && pass.moves_only())) {
      passes.pick(pass, to, in, type);
    } else if (!whole) {
      const DType made = last ? out_type_ : DType::float32;
      passes.mix(pass, to, made, in, type);
      type = made;
    } else if (image_.columns && k == mixes_.size()) {
      if (last)
        passes.filter_bytes(pass, static_cast<uint8_t*>(to), static_cast<const uint8_t*>(in));
      else
        passes.filter_bytes(pass, static_cast<int16_t*>(to), static_cast<const uint8_t*>(in));
    } else if (image_.columns) {
      passes.mix_bytes(pass, static_cast<uint8_t*>(to), static_cast<const int16_t*>(in));
    } else {
      passes.mix_bytes(pass, static_cast<uint8_t*>(to), static_cast<const uint8_t*>(in));
    }
    launches.then();
    in = to;
  }
}

}  // namespace avida
