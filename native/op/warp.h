// Operators that look up where each pixel of the output lies in the input. A map says where:
//
//   struct Map { static constexpr int dims = 2; Place<2> operator()(const Place<2>& pixel_centre) const; };
//
// The family has the rest: frames and planes, rows, interpolation, borders, element types.
#pragma once
#include <optional>

#include "core/clones.h"
#include "kernel/staged_warp.h"
#include "kernel/warp.h"
#include "kernel/warp_item.h"
#include "kernel/warp_tile.h"
#include "op/launches.h"
#include "op/op.h"

namespace avida {

// What most warps take.
struct WarpArgs {
  DType dtype = DType::none, output_dtype = DType::none;
  std::optional<float> fill_value;
  int interp_type = 1;
};

struct WarpOptions {
  bool linear = true;
  Border border = Border::fill;
  std::vector<float> fill = {0};  // one number, or one for each channel
};

bool is_linear(int interp_type);  // raises for all but nearest and linear
WarpOptions warp_options(const WarpArgs& args);
void infer_warp(const WarpArgs& args, Meta& out);

// Sets the axes H, W (and D) of a shape to a size that the user gave.
void set_size(Shape& shape, const Layout& layout, const Vec<float>& size);

template <class Args>
void warp_args(Op<Args>& op) {
  op.arg("dtype", &Args::dtype, "The element type of the output, by default the input's; integers are rounded.")
      .arg("fill_value", &Args::fill_value,
           "What to put where the input has nothing; by default its border is continued.", fixed | takes_nan)
      .arg("interp_type", &Args::interp_type, "Nearest or linear interpolation.", fixed)
      .arg("output_dtype", &Args::output_dtype, "The old name of dtype.");
}

constexpr int kTileSize = 256, kTileRows = 16;

// Where the pixels of a part of a row come from.
struct Tile {
  int n;
  alignas(64) float at[3][kTileSize];
};

// Which elements there are along an axis.
struct TileAxis {
  float shift;      // from a place to the element before it
  float low, high;  // places are moved into this range first; no number at all lies at `low`
  int most;         // the last element that a place may come after
  int inner;        // so many elements have all others after them that are needed
  int least;        // before this element, and from `size` on, nothing is there
  int size;
  unsigned stride;  // in bytes
};

// `n` places from `place` on, each the sum of the one before it and a step.
void sum_steps(float* at, float place, float step, int n);

template <class Map>
AVIDA_INLINE Place<Map::dims> place_of(const Map& map, int x, int y, int z) {
  const float centre[] = {static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f, static_cast<float>(z) + 0.5f};
  Place<Map::dims> from{};
  for (int d = 0; d < Map::dims; d++) from[d] = centre[d];
  return map(from);
}

template <class Map>
AVIDA_CLONES static void map_pixels(const Map& map, Tile& tile, int x, int y, int z) {
  for (int i = 0; i < tile.n; i++) {
    const Place<Map::dims> place = place_of(map, x + i, y, z);
    for (int d = 0; d < Map::dims; d++) tile.at[d][i] = place[d];
  }
}

// Where the pixels of the tile from (x, y, z) on lie. Affine maps have a step; others may know whole rows.
template <class Map>
void find_places(const Map& map, Tile& tile, int x, int y, int z) {
  if constexpr (requires { map.step(); }) {
    const Place<Map::dims> place = place_of(map, x, y, z), step = map.step();
    for (int d = 0; d < Map::dims; d++) sum_steps(tile.at[d], place[d], step[d], tile.n);
  } else if constexpr (requires { map.row(tile.at[0], tile.at[1], tile.n, x, y); }) {
    map.row(tile.at[0], tile.at[1], tile.n, x, y);
  } else {
    map_pixels(map, tile, x, y, z);
  }
}

// The boxes of tiles of that many pixels, for StagedWarp; false where they do not fit.
bool find_box(const Affine<2>& map, int width, int height, WarpBox& box);

// One sample: the axes after the last of H, W are channels, those before D, H and W are frames or planes.
class WarpSample {
 public:
  WarpSample(const SampleView& in, const SampleView& out, const WarpOptions& options, Launches* launches);

  static int64_t rows(const SampleView& out);
  int dims() const { return dims_; }

  // map_of(plane) is the map for one frame or plane.
  template <class MapOf>
  void run_planes(const MapOf& map_of, int64_t begin, int64_t end) const {
    if (channels_ == 0) return;
    if (launches_) {
      const int64_t rows = out_size_[1] * out_size_[2];
      for (int64_t row = begin; row < end && rows > 0; row += rows) launch(map_of(row / rows), row / rows);
      return;
    }
    Tile tile;
    // Some rows of a tile, then those of the next: images that are turned are read across their rows.
    for (int64_t first = begin; first < end; first += kTileRows)
      for (int64_t x = 0; x < out_size_[0]; x += kTileSize)
        for (int64_t row = first; row < std::min(end, first + kTileRows); row++) {
          const auto map = map_of(row / (out_size_[1] * out_size_[2]));
          tile.n = static_cast<int>(std::min<int64_t>(kTileSize, out_size_[0] - x));
          find_places(map, tile, static_cast<int>(x), static_cast<int>(row % out_size_[1]),
                      static_cast<int>(row / out_size_[1] % out_size_[2]));
          look_up(tile, row, x);
        }
  }
  template <class Map>
  void run(const Map& map, int64_t begin, int64_t end) const {
    run_planes([&](int64_t) { return map; }, begin, end);
  }

 private:
  template <class Map>
  void launch(const Map& map, int64_t plane) const {
    const bool bytes = in_.dtype == DType::uint8 && out_.dtype == DType::uint8;
    const bool floats = in_.dtype == DType::float32 && out_.dtype == DType::float32;
    if constexpr (Map::dims == 2)
      if (bytes ? launch_tiles<uint8_t>(map, plane) : floats && launch_tiles<float>(map, plane)) return;
    if (bytes)
      launch_items<uint8_t, uint8_t>(map, plane);
    else if (floats)
      launch_items<float, float>(map, plane);
    else
      launch_items<AnyElement, AnyElement>(map, plane);
  }

  char* out_plane(int64_t plane) const {
    return out_.as<char>() + plane * out_size_[0] * out_size_[1] * out_size_[2] * channels_ * size_of(out_.dtype);
  }
  char* in_plane(int64_t plane) const {
    return in_.as<char>() + plane * in_size_[0] * in_size_[1] * in_size_[2] * channels_ * size_of(in_.dtype);
  }
  const void* fill_of(int64_t plane) const {
    return static_cast<const char*>(fill_on_gpu_) + plane % planes_ * channels_ * size_of(in_.dtype);
  }

  // False where pixels or extents are other than usual.
  template <class T, class Map>
  bool launch_tiles(const Map& map, int64_t plane) const {
    if (channels_ == 1) return launch_tiles<T, 1>(map, plane);
    if (channels_ == 3) return launch_tiles<T, 3>(map, plane);
    if (channels_ == 4) return launch_tiles<T, 4>(map, plane);
    return false;
  }
  template <class T, int channels, class Map>
  bool launch_tiles(const Map& map, int64_t plane) const {
    using Body = WarpTile<Map, T, channels>;
    const int64_t tiles = (out_size_[0] + Body::kWidth - 1) / Body::kWidth;
    const int64_t all_tiles = tiles * ((out_size_[1] + Body::kHeight - 1) / Body::kHeight);
    const int64_t most_pixels = INT32_MAX / Body::kPixel;
    if (std::max({int64_t(in_size_[0]), int64_t(in_size_[1]), out_size_[0], out_size_[1]}) > Body::kMostSize ||
        int64_t(in_size_[0]) * in_size_[1] > most_pixels || out_size_[0] * out_size_[1] > most_pixels ||
        all_tiles * tiles > INT32_MAX || all_tiles == 0)
      return false;
    auto inner = [&](int d) { return static_cast<unsigned>(std::max(in_size_[d] - linear_, 0)); };
    const auto out_row = static_cast<unsigned>(out_size_[0] * Body::kPixel);
    const typename Body::Params params{.out = out_plane(plane),
                                       .in = in_plane(plane),
                                       .fill = static_cast<const T*>(fill_of(plane)),
                                       .linear = linear_,
                                       .border = border_,
                                       .in_size = {in_size_[0], in_size_[1]},
                                       .out_size = {static_cast<int>(out_size_[0]), static_cast<int>(out_size_[1])},
                                       .inner = {inner(0), inner(1)},
                                       .in_row = static_cast<unsigned>(in_size_[0] * Body::kPixel),
                                       .out_row = out_row,
                                       .tile_row = Body::tile_row_of(out_row),
                                       .tiles = static_cast<unsigned>(tiles),
                                       .tiles_inverse = inverse_of(static_cast<unsigned>(tiles)),
                                       .map = map};
    if constexpr (same_type<Map, Affine<2>> && same_type<T, uint8_t>)
      if (WarpBox box; linear_ && find_box(map, Body::kWidth, Body::kHeight, box)) {
        launches_->template add<StagedWarp<channels>>(0, all_tiles, {params, box});
        return true;
      }
    launches_->template add<Body>(0, all_tiles, params);
    return true;
  }
  template <class To, class From, class Map>
  void launch_items(const Map& map, int64_t plane) const {
    using Item = WarpItem<Map, To, From>;
    typename Item::Params params{.out = out_plane(plane),
                                 .in = in_plane(plane),
                                 .fill = fill_of(plane),
                                 .to = static_cast<int>(out_.dtype),
                                 .from = static_cast<int>(in_.dtype),
                                 .element = size_of(in_.dtype),
                                 .linear = linear_,
                                 .border = border_,
                                 .in_size = {},
                                 .out_size = {},
                                 .channels = channels_,
                                 .map = map};
    for (int d = 0; d < Map::dims; d++) params.in_size[d] = in_size_[d], params.out_size[d] = out_size_[d];
    launches_->template add<Item>(0, out_size_[0] * out_size_[1] * out_size_[2], params);
  }

  void set_axes();
  void look_up(const Tile& tile, int64_t row, int64_t x) const;
  template <class T, int N>
  Texture<T, N> texture(int64_t plane) const;

  const SampleView &in_, &out_;
  Launches* const launches_;  // null on the CPU
  const void* fill_on_gpu_ = nullptr;
  bool linear_;
  Border border_;
  int dims_;                    // 2 or 3
  int in_size_[3] = {1, 1, 1};  // x, y, z
  int64_t out_size_[3] = {1, 1, 1};
  int64_t channels_ = 1, planes_ = 1;  // planes that lie one after the other and have fills of their own
  std::vector<uint64_t> fill_;         // in the input's element type, for each channel of each plane
  TileAxis axes_[3];
  int last_offset_;  // from where on, in bytes, reading may lead beyond the plane
};

}  // namespace avida
