// The family of operators that look up where each pixel of the output lies in the input, on either device.
//
// A map says where:
//
//   struct Map { static constexpr int dims = 2; Place<2> operator()(const Place<2>& pixel_centre) const; };
//
// The family has the rest: frames and planes, rows, interpolation, borders, element types.
#pragma once
#include <functional>
#include <optional>
#include <variant>

#include "core/clones.h"
#include "loops/warping/warp_item.h"
#include "loops/warping/warp_map.h"
#include "loops/warping/warp_tile.h"
#include "operator/declare.h"
#include "operator/launches.h"

namespace avida {

enum class Interpolation { nearest, linear };
AVIDA_CHOICES_WITH(Interpolation, kInterpType, "nn", "linear", {"nearest", Interpolation::nearest},
                   {"bilinear", Interpolation::linear})

// What most warps take.
struct WarpArgs {
  DType dtype = DType::none, output_dtype = DType::none;
  std::optional<float> fill_value;
  Interpolation interp_type = Interpolation::linear;
};

struct WarpOptions {
  Interpolation interpolation = Interpolation::linear;
  Border border = Border::fill;
  std::vector<float> fill = {0};  // one number, or one for each channel
};

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

// Positions of the pixels of a part of a row: x, y, z.
using RowPlaces = float[3][kTileSize];

// Where the pixels of parts of a few rows, one below the other, come from.
struct Tile {
  static constexpr int kRows = 4;
  int n, rows;
  alignas(64) RowPlaces at[kRows];
  // Of a map that shifts rows and columns: how far down the columns from `shifts_from` on, which all rows share.
  float shifts[kTileSize];
  int shifts_from = -1;
};

// The elements along an axis.
struct TileAxis {
  float shift;      // from a position to the element before it
  float low, high;  // positions are clamped to this range; NaN becomes `low`
  int most;         // the last element that a position may follow
  int inner;        // elements before this one have all neighbours that interpolation needs
  int least;        // before this element, and from `size` on, nothing is there
  int size;
  float last;       // the last position that has them
  unsigned stride;  // in bytes
};

// From the first position of each row on, each is the sum of the previous one and a step.
template <int N>
void sum_steps(Tile& tile, const Place<N> (&first)[Tile::kRows], const Place<N>& step);

template <class Map>
AVIDA_INLINE Place<Map::dims> place_of(const Map& map, int x, int y, int z) {
  const float centre[] = {static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f, static_cast<float>(z) + 0.5f};
  Place<Map::dims> from{};
  for (int d = 0; d < Map::dims; d++) from[d] = centre[d];
  return map(from);
}

template <class Map>
AVIDA_TEMPLATE_CLONES static void map_pixels(const Map& map, RowPlaces& at, int n, int x, int y, int z) {
  for (int i = 0; i < n; i++) {
    const Place<Map::dims> place = place_of(map, x + i, y, z);
    for (int d = 0; d < Map::dims; d++) at[d][i] = place[d];
  }
}

// The positions of the pixels of a tile from (x, y, z) on. Affine maps have a step, some shift rows and columns, others
// may compute rows at once.
template <class Map>
void find_places(const Map& map, Tile& tile, int x, int y, int z) {
  if constexpr (requires { map.step(); }) {
    Place<Map::dims> first[Tile::kRows];
    for (int row = 0; row < Tile::kRows; row++) first[row] = place_of(map, x, y + row, z);
    sum_steps(tile, first, map.step());
  } else if constexpr (requires { map.shift_down(0.0f); }) {
    for (int i = 0; i < tile.n && tile.shifts_from != x; i++)
      tile.shifts[i] = map.shift_down(static_cast<float>(x + i) + 0.5f);
    tile.shifts_from = x;
    for (int row = 0; row < tile.rows; row++) {
      const float y_centre = static_cast<float>(y + row) + 0.5f, right = map.shift_right(y_centre);
      for (int i = 0; i < tile.n; i++) {
        tile.at[row][0][i] = static_cast<float>(x + i) + 0.5f - 0.5f + right;
        tile.at[row][1][i] = y_centre - 0.5f + tile.shifts[i];
      }
    }
  } else {
    for (int row = 0; row < tile.rows; row++)
      if constexpr (requires { map.row(tile.at[0][0], tile.at[0][1], tile.n, x, y); })
        map.row(tile.at[row][0], tile.at[row][1], tile.n, x, y + row);
      else
        map_pixels(map, tile.at[row], tile.n, x, y + row, z);
  }
}

struct Located;  // warp_loops.h

using AnyAffine = std::variant<Affine<2>, Affine<3>>;

// One sample: the axes after the last of H, W are channels, those before D, H and W are frames or planes.
class WarpSample {
 public:
  template <class Work>
  WarpSample(const Work& work, const WarpOptions& options)
      : WarpSample(work.in[0], work.out[0], options, work.begin, work.end, work.launches) {}

  // Rows that threads may share.
  static int64_t rows(const SampleView& out);

  // map_of(plane) is the map for one frame or plane.
  template <class MapOf>
  void run_planes(const MapOf& map_of) const {
    if (launches_)
      each_plane([&](int64_t plane) { launch(map_of(plane), plane); });
    else
      each_tile([&](Tile& tile, int64_t plane, int x, int y, int z) { find_places(map_of(plane), tile, x, y, z); });
  }
  template <class Map>
  void run(const Map& map) const {
    run_planes([&](int64_t) -> const Map& { return map; });
  }
  // Most warps are affine: these are compiled once.
  void run(const AnyAffine& map) const;

 private:
  WarpSample(const SampleView& in, const SampleView& out, const WarpOptions& options, int64_t begin, int64_t end,
             Launches* launches);

  // On the CPU: `find` fills parts of rows with the positions of their pixels in the input.
  void each_tile(const std::function<void(Tile& tile, int64_t plane, int x, int y, int z)>& find) const;
  void prefetch(const Located& found, int64_t plane) const;
  void look_up(const Located& found, int64_t row, int64_t x) const;
  template <class T, int N>
  Texture<T, N> texture(int64_t plane) const;
  void set_axes();

  // On a GPU.
  template <class Fn>
  void each_plane(const Fn& fn) const {
    const int64_t rows = out_size_[1] * out_size_[2];
    for (int64_t row = begin_; row < end_ && rows > 0 && channels_ > 0; row += rows) fn(row / rows);
  }
  template <class Map>
  void launch(const Map& map, int64_t plane) const {
    const bool bytes = has_types(DType::uint8), floats = has_types(DType::float32);
    const WarpImage image = image_of(plane);
    if constexpr (Map::dims == 2) {
      WarpTiles tiles;
      if (const int64_t count = set_tiles(tiles, image)) {
        if constexpr (same_type<Map, Affine<2>>)
          if (launch_staged(tiles, count, map)) return;
        auto add = [&](auto type) {
          using T = typename decltype(type)::type;
          if (channels_ == 1) launches_->add<WarpTile<Map, T, 1>>(0, count, {tiles, map});
          if (channels_ == 3) launches_->add<WarpTile<Map, T, 3>>(0, count, {tiles, map});
          if (channels_ == 4) launches_->add<WarpTile<Map, T, 4>>(0, count, {tiles, map});
        };
        return bytes ? add(Type<uint8_t>{}) : add(Type<float>{});
      }
    }
    const int64_t pixels = out_size_[0] * out_size_[1] * out_size_[2];
    if (bytes)
      launches_->add<WarpItem<Map, uint8_t, uint8_t>>(0, pixels, {image, map});
    else if (floats)
      launches_->add<WarpItem<Map, float, float>>(0, pixels, {image, map});
    else
      launches_->add<WarpItem<Map, AnyElement, AnyElement>>(0, pixels, {image, map});
  }
  // Returns how many tiles there are; 0 where types, channels or extents are other than usual.
  int64_t set_tiles(WarpTiles& tiles, const WarpImage& image) const;
  // False where the boxes of tiles do not fit into shared memory.
  bool launch_staged(const WarpTiles& tiles, int64_t count, const Affine<2>& map) const;
  WarpImage image_of(int64_t plane) const;
  bool has_types(DType dtype) const { return in_.dtype == dtype && out_.dtype == dtype; }

  const SampleView &in_, &out_;
  const int64_t begin_, end_;  // rows
  Launches* const launches_;   // null on the CPU
  const void* fill_on_gpu_ = nullptr;
  bool linear_;
  Border border_;
  int dims_;                    // 2 or 3
  int in_size_[3] = {1, 1, 1};  // x, y, z
  int64_t out_size_[3] = {1, 1, 1};
  int64_t channels_ = 1, planes_ = 1;  // planes that follow one another and have fill values of their own
  std::vector<uint64_t> fill_;         // in the input's element type, for each channel of each plane
  TileAxis axes_[3];
  int64_t plane_bytes_;
  int last_offset_;  // in bytes; after it, reading several elements at once may lead beyond the plane
};

}  // namespace avida
