// The body of grid_mask: an element, or 0 in the squares of a grid. Read by NVRTC too: no std headers.
#pragma once
#include "device/divide.h"
#include "device/math.h"
#include "device/words.h"
#include "loops/items/pieces.h"

namespace avida::ops {

struct GridMaskArgs {
  float angle = 0, ratio = 0.5f, shift_x = 0, shift_y = 0;
  int tile = 100;
};

// The plane rotated and scaled, so that tiles have an extent of 1.
struct Grid {
  float x_by_x, x_by_y, shift_x, shift_y, ratio;

  AVIDA_HD explicit Grid(const GridMaskArgs& args) {
    const float tile = static_cast<float>(args.tile);
    x_by_x = math::cos(args.angle) / tile;
    x_by_y = math::sin(args.angle) / tile;
    shift_x = args.shift_x / tile;
    shift_y = args.shift_y / tile;
    ratio = args.ratio;
  }

  // Whether the pixel lies in the square of its tile.
  AVIDA_HD AVIDA_INLINE bool masks(int x, int y) const {
    const float u = static_cast<float>(x) * x_by_x - static_cast<float>(y) * x_by_y - shift_x;
    const float v = static_cast<float>(x) * x_by_y + static_cast<float>(y) * x_by_x - shift_y;
    return (u - math::floor(u) < ratio) & (v - math::floor(v) < ratio);
  }
};

// Each item is an element.
template <class T>
struct GridMask {
  static constexpr const char* header = "ops/paste/grid_mask.h";
  struct Params {
    T* out;
    const T* in;
    Grid grid;
    long width, height, channels;            // planes have one channel each
    Divisor by_row, by_height, by_channels;  // elements of a row, rows, channels
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const auto [row, x] = divided(divided(i, params.channels).whole, params.width);
    const long y = divided(row, params.height).rest;
    const T value = params.in[i];
    params.out[i] = params.grid.masks(static_cast<int>(x), static_cast<int>(y)) ? T(0) : value;
  }

  // Pieces of a row.
  AVIDA_HD AVIDA_INLINE static bool edit_piece(const Params& params, long first, unsigned (&words)[kPieceBytes / 4]) {
    if (first >> 32 != 0) return false;
    const auto start = static_cast<unsigned>(first);
    const unsigned row = params.by_row(start), in_row = params.by_row.rest(start, row);
    if (long{in_row} + kElements > long{params.by_row.by}) return false;
    const unsigned y = params.by_height.rest(row, params.by_height(row)), x = params.by_channels(in_row);
    const unsigned channel = params.by_channels.rest(in_row, x);
    unsigned kept[kPieceBytes / 4];
    if (sizeof(T) == 1 && params.by_channels.by == 3)
      keep_triples(params.grid, static_cast<int>(x), static_cast<int>(y), 8 * channel, kept);
    else
      keep(params, static_cast<int>(x), static_cast<int>(y), channel, kept);
    for (int k = 0; k < kPieceBytes / 4; k++) words[k] &= kept[k];
    return true;
  }

 private:
  static constexpr int kElements = kPieceBytes / sizeof(T);

  // Ones in the bytes of elements that are not masked.
  AVIDA_HD AVIDA_INLINE static void keep(const Params& params, int x, int y, unsigned channel,
                                         unsigned (&kept)[kPieceBytes / 4]) {
    constexpr int size = sizeof(T), of_element = size < 4 ? size : 4;
    for (unsigned& word : kept) word = 0;
    bool masked = params.grid.masks(x, y);
    for (int k = 0; k < kElements; k++) {
      for (int b = 0; b < size; b += of_element)
        add_part<of_element>(kept, (k * size + b) / of_element, masked ? 0 : ~0u >> (32 - 8 * of_element));
      if (++channel < params.by_channels.by) continue;
      channel = 0;
      masked = params.grid.masks(++x, y);
    }
  }
  // The same for pixels of three bytes, of which the first lacks `cut` bits: six touch the piece.
  AVIDA_HD AVIDA_INLINE static void keep_triples(const Grid& grid, int x, int y, unsigned cut,
                                                 unsigned (&kept)[kPieceBytes / 4]) {
    unsigned pixel[6], all[5];
    for (int k = 0; k < 6; k++) pixel[k] = grid.masks(x + k, y) ? 0 : 0xffffff;
    for (int k = 0; k < 5; k++) {
      const int from = 4 * k / 3, bytes = 4 * k % 3;  // of the pixel that the word begins in, and gone by then
      all[k] = pixel[from] >> 8 * bytes | pixel[from < 5 ? from + 1 : 5] << 8 * (3 - bytes);
    }
    for (int k = 0; k < kPieceBytes / 4; k++) kept[k] = word_between(all[k], all[k + 1], cut);
  }
};

}  // namespace avida::ops
