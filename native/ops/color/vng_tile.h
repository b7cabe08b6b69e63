// Demosaics tiles of an image by a variable number of gradients (vng.h) on a GPU.
#pragma once
#include "device/view.h"
#include "ops/color/debayer.h"
#include "ops/color/vng.h"

namespace avida::ops {

// An item is a tile; a thread makes pairs of a green pixel and the one beside it.
struct VngTile {
  static constexpr const char* header = "ops/color/vng_tile.h";
  static constexpr int kThreads = 256, kPhases = 3, kHeight = 16, kWidth = 64, kBorder = 2;
  static constexpr int kRowBytes = 3 * kWidth;
  struct Params {
    unsigned char* out;
    const unsigned char* in;
    long frames, height, width;
    BayerPattern pattern;

    AVIDA_HD AVIDA_INLINE Index<3> tiles() const {
      return {{frames, (height + kHeight - 1) / kHeight, (width + kWidth - 1) / kWidth}};
    }
  };
  struct Shared {
    unsigned char in[kHeight + 2 * kBorder][kWidth + 2 * kBorder];
    unsigned char out[kHeight][kRowBytes];
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const auto [frame, tile_y, tile_x] = place_of<3>(item, params.tiles()).at;
    const long top = tile_y * kHeight, left = tile_x * kWidth;
    if constexpr (phase == 0) {
      const unsigned char* in = params.in + frame * params.height * params.width;
      constexpr int rows = kHeight + 2 * kBorder, columns = kWidth + 2 * kBorder;
      for (int i = thread; i < rows * columns; i += kThreads) {
        const int row = i / columns, column = i % columns;
        const long y = reflected(top + row - kBorder, params.height),
                   x = reflected(left + column - kBorder, params.width);
        shared.in[row][column] = in[y * params.width + x];
      }
    } else if constexpr (phase == 1) {
      for (int i = thread; i < kHeight * kWidth / 2; i += kThreads) {
        const int row = i / (kWidth / 2), x = i % (kWidth / 2) * 2;
        const bool blue = params.pattern.has_blue(top + row);
        const int green = params.pattern.green_column(top + row);
        make<true>(shared, row, x + green, blue);
        make<false>(shared, row, x + 1 - green, blue);
      }
    } else {
      const long rows = params.height - top, bytes = 3 * (params.width - left);
      for (int i = thread; i < kHeight * kRowBytes / 4; i += kThreads) {
        const int row = i / (kRowBytes / 4), first = i % (kRowBytes / 4) * 4;
        if (row >= rows || first >= bytes) continue;
        const unsigned char* from = &shared.out[row][first];
        unsigned char* to = params.out + ((frame * params.height + top + row) * params.width + left) * 3 + first;
        if (first + 4 <= bytes)
          store_bytes(to, {from[0], from[1], from[2], from[3]});
        else
          for (int k = 0; first + k < bytes; k++) to[k] = from[k];
      }
    }
  }

 private:
  // As Border::reflect_101, for what is needed of a tile: it reaches beyond the image, but nobody reads that.
  AVIDA_HD AVIDA_INLINE static long reflected(long i, long n) {
    if (i < 0) return -i;
    if (i < n) return i;
    return 2 * n - 2 - i < 0 ? 0 : 2 * n - 2 - i;
  }
  struct TilePixel {
    const Shared& shared;
    int row, column;
    AVIDA_HD AVIDA_INLINE int operator()(int dy, int dx) const {
      return shared.in[row + kBorder + dy][column + kBorder + dx];
    }
  };
  template <bool green>
  AVIDA_HD AVIDA_INLINE static void make(Shared& shared, int row, int column, bool blue) {
    vng_pixel(&shared.out[row][3 * column], TilePixel{shared, row, column}, green, blue);
  }
};

}  // namespace avida::ops
