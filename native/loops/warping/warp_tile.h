// Warps of images of bytes or floats on a GPU, in tiles of the output.
// The pixels of a tile find what they read in the cache, and are written in words. The arithmetic is that of WarpItem.
#pragma once
#include "device/byte_floats.h"
#include "device/divide.h"
#include "device/words.h"
#include "loops/warping/warp_map.h"

namespace avida {

// The tiles of one image, for any type and map.
struct WarpTiles {
  static constexpr int kWidth = 64;
  // Sizes below this are exact in floats, and so are positions in them.
  static constexpr int kMostSize = 1 << 22;

  char* out;
  const char* in;
  const void* fill;  // one element for each channel
  bool linear;
  Border border;
  int in_size[2], out_size[2];
  unsigned inner[2];                   // pixels before these have all neighbours that interpolation needs
  unsigned in_row, out_row, tile_row;  // bytes from one row to the next
  unsigned tiles;                      // side by side
  unsigned tiles_inverse;

  // The height of a tile, and its rows' distance: a byte has the same offset from a multiple of 16 as in the output.
  // Four rows, of which a warp makes some pixels at once, mostly lie in different banks.
  AVIDA_HD static constexpr int height_of(int element_bytes) { return element_bytes == 1 ? 32 : 8; }
  AVIDA_HD static constexpr unsigned tile_row_of(unsigned out_row, unsigned pixel_bytes) {
    return kWidth * pixel_bytes + 32 + out_row % 16;
  }
};

// The part of a tile's work that does not depend on the map.
template <class T, int channels>
struct TilePixels {
  static_assert(sizeof(T) == 1 || sizeof(T) == 4);
  using Params = WarpTiles;

  static constexpr int kThreads = 256;
  static constexpr int kWidth = Params::kWidth, kHeight = Params::height_of(sizeof(T));
  static constexpr int kPixel = channels * static_cast<int>(sizeof(T));

  struct Shared {
    alignas(16) unsigned char bytes[kHeight * (kWidth * kPixel + 48)];
  };

  // What a tile has of the output.
  struct Area {
    int x, y, columns, rows;
    char* out;
    AVIDA_HD AVIDA_INLINE Area(const Params& params, long item) {
      const unsigned tile = static_cast<unsigned>(item);
      const unsigned above = divided_by_inverse(tile, params.tiles_inverse);
      x = static_cast<int>(tile - above * params.tiles) * kWidth, y = static_cast<int>(above) * kHeight;
      columns = params.out_size[0] - x < kWidth ? params.out_size[0] - x : kWidth;
      rows = params.out_size[1] - y < kHeight ? params.out_size[1] - y : kHeight;
      out = params.out + (static_cast<unsigned>(y) * params.out_row + static_cast<unsigned>(x) * kPixel);
    }
  };

  // The offset of an address from a multiple of 16.
  AVIDA_HD AVIDA_INLINE static unsigned skew(const char* address) {
    return static_cast<unsigned>(address_of(address)) & 15;
  }

  // Half a warp writes a row: 16 bytes at a time, then the bytes before and after those.
  AVIDA_HD AVIDA_KERNEL_INLINE static void write(const Params& params, const Shared& shared, const Area& area,
                                                 int thread) {
    const int lane = thread % 16, bytes = area.columns * kPixel;
    AVIDA_DO_NOT_UNROLL
    for (int row = thread / 16; row < area.rows; row += kThreads / 16) {
      char* out = area.out + static_cast<unsigned>(row) * params.out_row;
      const unsigned char* made = shared.bytes + (skew(area.out) + static_cast<unsigned>(row) * params.tile_row);
      const int head = static_cast<int>(-skew(out) & 15);
      for (int k = 0; k < kWidth * kPixel; k += 16 * 16)
        if (const int at = head + 16 * lane + k; at + 16 <= bytes) store_aligned(out + at, load_aligned<4>(made + at));
      if (head == 0 && bytes % 16 == 0) continue;
      if (lane < head && lane < bytes) out[lane] = static_cast<char>(made[lane]);
      const int at = bytes - ((bytes - head) & 15) + lane;
      if (at >= head && at < bytes) out[at] = static_cast<char>(made[at]);
    }
  }

  AVIDA_HD AVIDA_INLINE static T load(const void* at) { return read_only(static_cast<const T*>(at)); }
  AVIDA_HD AVIDA_INLINE static int index_of(const Params& params, int i, int d) {
    const int n = params.in_size[d];
    if (i >= 0 && i < n) return i;
    return params.border == Border::fill ? -1 : index_beyond(params.border, i, n);
  }
  AVIDA_HD AVIDA_INLINE static const char* pixel_at(const Params& params, int x, int y) {
    if (x < 0 || y < 0) return static_cast<const char*>(params.fill);
    return params.in + (static_cast<unsigned>(y) * params.in_row + static_cast<unsigned>(x) * kPixel);
  }

  AVIDA_HD AVIDA_KERNEL_INLINE static void move_pixel(const Params& params, Place<2> place, T* to) {
    unsigned column = float_bits(lifted_whole(place[0])) - float_bits(kLift);
    unsigned row = float_bits(lifted_whole(place[1])) - float_bits(kLift);
    const char* pixel = params.in + (row * params.in_row + column * kPixel);
    if (!has(params, column, row)) {
      column = index_of(params, element_before(place[0], params.in_size[0], params.border, false), 0);
      row = index_of(params, element_before(place[1], params.in_size[1], params.border, false), 1);
      pixel = pixel_at(params, static_cast<int>(column), static_cast<int>(row));
    }
    for (int c = 0; c < channels; c++) to[c] = load(pixel + c * sizeof(T));
  }

  AVIDA_HD AVIDA_KERNEL_INLINE static void mix_pixel(const Params& params, const Place<2>& place, T* to) {
    float x = place[0] - 0.5f, y = place[1] - 0.5f;
    const float whole[] = {lifted_whole(x), lifted_whole(y)};
    unsigned column = float_bits(whole[0]) - float_bits(kLift), row = float_bits(whole[1]) - float_bits(kLift);
    float right = x - (whole[0] - kLift), below = y - (whole[1] - kLift);
    if (!has(params, column, row)) {
      column = static_cast<unsigned>(element_before(x, params.in_size[0], params.border, true));
      row = static_cast<unsigned>(element_before(y, params.in_size[1], params.border, true));
      right = x - static_cast<float>(static_cast<int>(column));
      below = y - static_cast<float>(static_cast<int>(row));
      if (!has(params, column, row))
        return mix_at_border(params, static_cast<int>(column), static_cast<int>(row), right, below, to);
    }
    mix_inside(params, row * params.in_row + column * kPixel, right, below, to);
  }

 private:
  // A function of its own, as it is large and seldom needed.
  AVIDA_HD __attribute__((noinline)) static int index_beyond(Border border, int i, int n) {
    return border_index(border, i, n);
  }

  // Whether the image has all neighbours of a pixel. Negative indices are large as unsigned integers.
  AVIDA_HD AVIDA_INLINE static bool has(const Params& params, unsigned column, unsigned row) {
    return column < params.inner[0] && row < params.inner[1];
  }

  AVIDA_HD AVIDA_INLINE static void mix_inside(const Params& params, unsigned offset, float right, float below, T* to) {
    if constexpr (sizeof(T) == 1) {
      constexpr int pair = 2 * channels, words = (pair + 3) / 4;  // two pixels side by side
      unsigned upper[words], lower[words];
      load_words<1, 4 * words - pair>(params.in + offset, upper);
      load_words<1, 4 * words - pair>(params.in + (offset + params.in_row), lower);
      const ByteFactor of_left(1 - right), of_right(right);
      for (int c = 0; c < channels; c++) {
        auto mix_row = [&](const unsigned (&pair)[words]) {
          const int next = c + channels;
          return of_left(lifted_byte(pair[0], c)) + of_right(lifted_byte(pair[next / 4], next % 4));
        };
        to[c] = rounded_byte(mix(mix_row(upper), mix_row(lower), below));
      }
    } else {
      const char *upper = params.in + offset, *lower = upper + params.in_row;
      for (int c = 0; c < channels; c++) {
        auto mix_row = [&](const char* pair) {
          return mix(load(pair + c * sizeof(T)), load(pair + (c + channels) * sizeof(T)), right);
        };
        to[c] = mix(mix_row(upper), mix_row(lower), below);
      }
    }
  }

  AVIDA_HD AVIDA_INLINE static void mix_at_border(const Params& params, int column, int row, float right, float below,
                                                  T* to) {
    if (params.border == Border::fill &&
        (column < -1 || row < -1 || column >= params.in_size[0] || row >= params.in_size[1])) {
      for (int c = 0; c < channels; c++) to[c] = load(static_cast<const T*>(params.fill) + c);
      return;
    }
    const char* corner[4];
    const int columns[] = {index_of(params, column, 0), index_of(params, column + 1, 0)};
    const int rows[] = {index_of(params, row, 1), index_of(params, row + 1, 1)};
    for (int k = 0; k < 4; k++) corner[k] = pixel_at(params, columns[k % 2], rows[k / 2]);
    for (int c = 0; c < channels; c++) {
      float value[4];
      for (int k = 0; k < 4; k++) value[k] = convert<float>(load(corner[k] + c * sizeof(T)));
      to[c] = convert<T>(mix(mix(value[0], value[1], right), mix(value[2], value[3], right), below));
    }
  }
};

template <class Map, class T, int channels>
struct WarpTile {
  static constexpr const char* header = "loops/warping/warp_tile.h";
  using Inner = Map;
  using Pixels = TilePixels<T, channels>;
  using Shared = typename Pixels::Shared;
  static_assert(Map::dims == 2);

  static constexpr int kThreads = Pixels::kThreads, kPhases = 2;

  struct Params {
    WarpTiles tiles;
    Map map;
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& given, Shared& shared, long item, int thread) {
    const Params params = given;  // read once
    const typename Pixels::Area area(params.tiles, item);
    if constexpr (phase == 1)
      Pixels::write(params.tiles, shared, area, thread);
    else if (params.tiles.linear)
      make<true>(params, shared, area, thread);
    else
      make<false>(params, shared, area, thread);
  }

 private:
  // A warp makes four rows of eight pixels, which lie close together in the input, then those below.
  template <bool linear>
  AVIDA_HD AVIDA_INLINE static void make(const Params& params, Shared& shared, const typename Pixels::Area& area,
                                         int thread) {
    const int column = thread / 32 * 8 + thread % 8;
    if (column >= area.columns) return;
    int row = thread % 32 / 8;
    unsigned to = Pixels::skew(area.out) + static_cast<unsigned>(row) * params.tiles.tile_row +
                  static_cast<unsigned>(column) * Pixels::kPixel;
    Place<2> centre{{static_cast<float>(area.x + column) + 0.5f, static_cast<float>(area.y + row) + 0.5f}};
#ifdef __CUDA_ARCH__
    asm volatile("" : "+f"(centre[0]));  // or it is computed again for each row
#endif
    AVIDA_DO_NOT_UNROLL
    for (; row < area.rows; row += 4, centre[1] += 4, to += 4 * params.tiles.tile_row) {
      T* pixel = reinterpret_cast<T*>(shared.bytes + to);
      if constexpr (linear)
        Pixels::mix_pixel(params.tiles, params.map(centre), pixel);
      else
        Pixels::move_pixel(params.tiles, params.map(centre), pixel);
    }
  }
};

#ifndef __CUDACC__
extern template struct TilePixels<unsigned char, 1>;
extern template struct TilePixels<unsigned char, 3>;
extern template struct TilePixels<unsigned char, 4>;
extern template struct TilePixels<float, 1>;
extern template struct TilePixels<float, 3>;
extern template struct TilePixels<float, 4>;
#endif

}  // namespace avida
