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

  // The position of a pixel, in tiles.
  struct Position {
    float u, v;
  };
  AVIDA_HD AVIDA_INLINE Position place(int x, int y) const {
    return {static_cast<float>(x) * x_by_x - static_cast<float>(y) * x_by_y - shift_x,
            static_cast<float>(x) * x_by_y + static_cast<float>(y) * x_by_x - shift_y};
  }
  // Whether the pixel lies in the square of its tile.
  AVIDA_HD AVIDA_INLINE bool masks(int x, int y) const {
    const auto [u, v] = place(x, y);
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
    long width, height, channels;  // planes have one channel each
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const auto [row, x] = divided(divided(i, params.channels).whole, params.width);
    const long y = divided(row, params.height).rest;
    const T value = params.in[i];
    params.out[i] = params.grid.masks(static_cast<int>(x), static_cast<int>(y)) ? T(0) : value;
  }

  // Pieces of a row.
  AVIDA_HD AVIDA_INLINE static bool run_piece(const Params& params, long first) {
    constexpr int size = sizeof(T), n = kPieceBytes / size;
    auto [pixel, c] = divided(first, params.channels);
    auto [row, x] = divided(pixel, params.width);
    if (x * params.channels + c + n > params.width * params.channels) return false;
    const int y = static_cast<int>(divided(row, params.height).rest);
    unsigned char bytes[kPieceBytes];
    load_bytes(params.in + first, bytes);
    bool masked = params.grid.masks(static_cast<int>(x), y);
    for (int k = 0; k < n; k++) {
      for (int b = 0; b < size; b++) bytes[k * size + b] = masked ? 0 : bytes[k * size + b];
      if (++c < params.channels) continue;
      c = 0;
      masked = params.grid.masks(static_cast<int>(++x), y);
    }
    store_bytes(params.out + first, bytes);
    return true;
  }
};

}  // namespace avida::ops
