// Equalizes the histograms of tiles, and interpolates between their results.
// A GPU does it in three steps: it counts in tiles, makes tables of the counts, and interpolates between tables.
#pragma once
#include "device/view.h"
#include "ops/color/count.h"
#include "ops/color/histogram.h"
#include "ops/color/lab.h"

namespace avida::ops {

// An axis cut into equal tiles. Where they do not fit, the image goes on beyond its border, mirrored.
struct Tiles {
  long size, count, tile;
  float share = 1.0f / static_cast<float>(tile);  // of a tile, that an element is

  AVIDA_HD AVIDA_INLINE Tiles(long size, long count, bool fits)
      : size(size), count(count), tile(fits ? size / count : size / count + 1) {}
  AVIDA_HD AVIDA_INLINE long source(long i) const {
    if (i < size) return i;
    if (size == 1) return 0;
    i %= 2 * (size - 1);
    return i < size ? i : 2 * (size - 1) - i;
  }
};

// Where element i lies among the middles of tiles: between tile cell - 1 and tile cell.
struct Between {
  long cell;
  float weight;  // of tile `cell`
};
template <class Int>
AVIDA_HD AVIDA_INLINE Between between(const Tiles& tiles, Int i) {
  float place = static_cast<float>(i) * tiles.share - 0.5f, low = math::floor(place);
  return {static_cast<long>(low) + 1, place - low};
}

// What the four tiles around a cell give for a value: one byte each, left and right above, left and right below.
AVIDA_HD AVIDA_INLINE unsigned char mix_four(unsigned four, float right, float below) {
  auto byte = [four](int k) { return static_cast<float>(static_cast<int>(four >> 8 * k & 255)); };
  float upper = byte(0) * (1 - right) + byte(1) * right, lower = byte(2) * (1 - right) + byte(3) * right;
  return round_to_even(upper * (1 - below) + lower * below);
}

// What the lightness of colours follows from.
struct LightnessTables {
  int light[256];
  unsigned char lightness[kLightValues];  // of light

  AVIDA_HD AVIDA_INLINE unsigned char of(const unsigned char* rgb) const {
    int sum = 0;
    for (int c = 0; c < 3; c++) sum += light_weight(c, 1) * light[rgb[c]];
    return lightness[scaled_back(sum, kWeightShift)];
  }
};

// What takes colours to Lab and back.
struct ColorTables {
  int light[256];
  unsigned lightness[256];  // the light of a lightness, and above 16 bits the root of that
  unsigned short root[kLightValues];
  unsigned char shade[kShadeValues];
};

struct TileArea {
  int top, bottom, left, right;
};

// Tiles of all channels that are equalized, cut into parts of some rows, for blocks of threads.
struct TileParts {
  static constexpr int kThreads = 256, kColumns = 32;  // threads side by side, the others are below them
  Tiles y, x;
  int channels;  // of a pixel
  int parts;

  // Calls fn(y, x) for the pixels of a part that a thread has.
  template <class Fn>
  AVIDA_HD AVIDA_INLINE void each(const TileArea& area, int part, int thread, const Fn& fn) const {
    const int rows = (area.bottom - area.top + parts - 1) / parts, first = area.top + part * rows;
    const int end = first + rows < area.bottom ? first + rows : area.bottom;
    for (int column = area.left + thread % kColumns; column < area.right; column += kColumns)
      for (int row = first + thread / kColumns; row < end; row += kThreads / kColumns) fn(row, column);
  }
};

template <class T>
AVIDA_HD AVIDA_INLINE void copy_words(T& to, const T& from, int thread, int threads) {
  unsigned* words = reinterpret_cast<unsigned*>(&to);
  const unsigned* source = reinterpret_cast<const unsigned*>(&from);
  for (int i = thread; i < static_cast<int>(sizeof(T) / 4); i += threads) words[i] = source[i];
}

// An item is a part of a tile.
struct CountTile {
  static constexpr const char* header = "ops/color/clahe.h";
  static constexpr int kThreads = TileParts::kThreads, kPhases = 3;
  struct Params {
    int* counts;
    const unsigned char* in;
    const LightnessTables* tables;  // null: channels are counted, not lightness
    TileParts tiles;
  };
  struct Shared {
    int counts[2][kByteValues];  // neighbours are often equal: the threads that count together are fewer
    LightnessTables tables;
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const TileParts& tiles = params.tiles;
    if constexpr (phase == 0) {
      shared.counts[0][thread] = shared.counts[1][thread] = 0;
      if (params.tables) copy_words(shared.tables, *params.tables, thread, kThreads);
    } else if constexpr (phase == 1) {
      const auto [channel, tile_y, tile_x, part] =
          place_of<4>(item, {{tiles.channels, tiles.y.count, tiles.x.count, tiles.parts}}).at;
      const int height = static_cast<int>(tiles.y.tile), width = static_cast<int>(tiles.x.tile);
      const int top = static_cast<int>(tile_y) * height, left = static_cast<int>(tile_x) * width;
      int* counts = shared.counts[thread / 32 % 2];
      tiles.each({top, top + height, left, left + width}, static_cast<int>(part), thread, [&](int y, int x) {
        const unsigned char* pixel =
            params.in + (tiles.y.source(y) * tiles.x.size + tiles.x.source(x)) * tiles.channels;
        count_one(counts[params.tables ? shared.tables.of(pixel) : pixel[channel]]);
      });
    } else {
      params.counts[item * kByteValues + thread] = shared.counts[0][thread] + shared.counts[1][thread];
    }
  }
};

// An item is a tile; a thread makes the table's entry for a value.
struct LimitedTable {
  static constexpr const char* header = "ops/color/clahe.h";
  static constexpr int kThreads = kByteValues, kPhases = 5;
  struct Params {
    unsigned char* tables;
    const int* counts;
    long area;
    int parts, limit;  // as for limited_table()
  };
  using Shared = SharedHistogram;

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int value) {
    if constexpr (phase == 0) {
      int sum = 0;
      for (int part = 0; part < params.parts; part++)
        sum += params.counts[(item * params.parts + part) * kByteValues + value];
      shared.count[value] = sum;
    } else if constexpr (phase == 1) {
      if (params.limit > 0) shared.add_groups(value, params.limit);
    } else if constexpr (phase == 2) {
      if (params.limit <= 0) return;
      int surplus = 0;
      for (int sum : shared.group) surplus += sum;
      shared.count[value] = limited_count(shared.count[value], value, surplus, params.limit);
    } else if constexpr (phase == 3) {
      shared.add_groups(value);
    } else {
      params.tables[item * kByteValues + value] =
          round_to_even(static_cast<float>(shared.sum_up_to(value)) * (255.0f / static_cast<float>(params.area)));
    }
  }
};

// An item is a part of a cell: of the pixels that lie between the same tiles.
struct MixTiles {
  static constexpr const char* header = "ops/color/clahe.h";
  static constexpr int kThreads = TileParts::kThreads, kPhases = 2;
  struct Params {
    unsigned char* out;
    const unsigned char *in, *tables;
    const ColorTables* colors;  // null: channels are changed, not lightness
    TileParts tiles;

    AVIDA_HD AVIDA_INLINE Index<4> cells(int changed_channels) const {
      return {{changed_channels, tiles.y.count + 1, tiles.x.count + 1, tiles.parts}};
    }
  };
  struct Shared {
    unsigned four[kByteValues];  // see mix_four()
    TileArea area;
    ColorTables colors;
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const TileParts& tiles = params.tiles;
    const auto [channel, y_cell, x_cell, part] = place_of<4>(item, params.cells(params.colors ? 1 : tiles.channels)).at;
    if constexpr (phase == 0) {
      const long above = y_cell > 0 ? y_cell - 1 : 0, below = y_cell < tiles.y.count ? y_cell : tiles.y.count - 1;
      const long left = x_cell > 0 ? x_cell - 1 : 0, right = x_cell < tiles.x.count ? x_cell : tiles.x.count - 1;
      auto entry = [&](long y, long x) -> unsigned {
        return params.tables[((channel * tiles.y.count + y) * tiles.x.count + x) * kByteValues + thread];
      };
      shared.four[thread] =
          entry(above, left) | entry(above, right) << 8 | entry(below, left) << 16 | entry(below, right) << 24;
      if (params.colors) copy_words(shared.colors, *params.colors, thread, kThreads);
      if (thread == 0) shared.area.top = first_of_cell(tiles.y, y_cell);
      if (thread == 32) shared.area.bottom = first_of_cell(tiles.y, y_cell + 1);
      if (thread == 64) shared.area.left = first_of_cell(tiles.x, x_cell);
      if (thread == 96) shared.area.right = first_of_cell(tiles.x, x_cell + 1);
    } else {
      // Copies: what is written could be the parameters, for all that compilers know.
      const Tiles rows = tiles.y, columns = tiles.x;
      const int channels = tiles.channels;
      const unsigned char* in = params.in;
      unsigned char* out = params.out;
      const auto change = [&](auto&& with) {
        tiles.each(shared.area, static_cast<int>(part), thread, [&](int y, int x) {
          const float right = between(columns, x).weight, below = between(rows, y).weight;
          with((y * columns.size + x) * channels, right, below);
        });
      };
      if (params.colors)
        change([&](long at, float right, float below) { change_lightness(out + at, in + at, shared, right, below); });
      else
        change([&, channel = channel](long at, float right, float below) {
          out[at + channel] = mix_four(shared.four[in[at + channel]], right, below);
        });
    }
  }

 private:
  // The first element that lies in a cell or behind it: near where it would be, but for rounding.
  AVIDA_HD static int first_of_cell(const Tiles& tiles, long cell) {
    long i = (2 * cell - 1) * tiles.tile / 2;
    i = i < 0 ? 0 : i < tiles.size ? i : tiles.size;
    while (i > 0 && between(tiles, i - 1).cell >= cell) i--;
    while (i < tiles.size && between(tiles, i).cell < cell) i++;
    return static_cast<int>(i);
  }

  AVIDA_HD AVIDA_INLINE static void change_lightness(unsigned char* out, const unsigned char* in, const Shared& shared,
                                                     float right, float below) {
    const ColorTables& tables = shared.colors;
    int light[3], root[3];
    for (int c = 0; c < 3; c++) light[c] = tables.light[in[c]];
    for (int k = 0; k < 3; k++) {
      int sum = 0;
      for (int c = 0; c < 3; c++) sum += light_weight(c, k) * light[c];
      root[k] = tables.root[scaled_back(sum, kWeightShift)];
    }
    const Bytes3 lab = roots_to_lab(root[0], root[1], root[2]);
    const unsigned lightness = tables.lightness[mix_four(shared.four[lab.at[0]], right, below)];
    const Shades shades =
        lab_to_shades(static_cast<int>(lightness & 0xffff), static_cast<int>(lightness >> 16), lab.at[1], lab.at[2]);
    for (int c = 0; c < 3; c++) out[c] = tables.shade[shades.at[c]];
  }
};

}  // namespace avida::ops
