// The bodies of dithering, downscale, glass_blur, jigsaw and zoom_blur. Read by NVRTC too: no std headers.
#pragma once
#include "device/convert.h"
#include "device/philox.h"
#include "device/pixel.h"

namespace avida::ops {

// A sample as planes of rows: `inner` interleaved channels for each pixel.
struct PlaneGrid {
  long planes, height, width, inner;
};

// Rows and columns come from given ones.
struct FromPlaces {
  const int *rows, *columns;
  AVIDA_HD AVIDA_INLINE int row(int, int y) const { return rows[y]; }
  AVIDA_HD AVIDA_INLINE int column(int x, int) const { return columns[x]; }
};

// The pieces of a grid change places. Piece k of the output is piece order[k] of the input, of the same size.
struct FromPieces {
  const int *row_of, *column_of;  // the piece of each row and column
  const int *tops, *lefts, *order;
  int columns;

  AVIDA_HD AVIDA_INLINE int piece(int x, int y) const { return order[row_of[y] * columns + column_of[x]]; }
  AVIDA_HD AVIDA_INLINE int row(int x, int y) const { return y - tops[row_of[y]] + tops[piece(x, y) / columns]; }
  AVIDA_HD AVIDA_INLINE int column(int x, int y) const {
    return x - lefts[column_of[x]] + lefts[piece(x, y) % columns];
  }
};

// Each pixel comes from one that is up to `reach` rows and columns away.
struct FromAround {
  RandomKey key;
  int reach, height, width;

  AVIDA_HD AVIDA_INLINE static int inside(int i, int extent) {
    return i < 0 ? -i : i >= extent ? 2 * extent - 2 - i : i;
  }
  AVIDA_HD AVIDA_INLINE int move(unsigned half) const {
    return static_cast<int>(half * static_cast<unsigned>(2 * reach + 1) >> 16) - reach;
  }
  // Four pixels share a block of random words.
  AVIDA_HD AVIDA_INLINE unsigned word(int x, int y) const {
    const long pixel = static_cast<long>(y) * width + x;
    const PhiloxBlock block = random_block(key, static_cast<unsigned>(pixel / 64 * 16 + pixel % 16));
    const long k = pixel / 16 % 4;
    return k < 2 ? (k ? block.word[1] : block.word[0]) : (k == 2 ? block.word[2] : block.word[3]);
  }
  AVIDA_HD AVIDA_INLINE int row(int x, int y) const { return inside(y + move(word(x, y) & 0xffff), height); }
  AVIDA_HD AVIDA_INLINE int column(int x, int y) const { return inside(x + move(word(x, y) >> 16), width); }
};

// An item is an element.
template <class T, class From>
struct PickPixel {
  static constexpr const char* header = "ops/effects/pieces.h";
  using Inner = From;
  struct Params {
    T* out;
    const T* in;
    PlaneGrid grid;
    From from;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const PlaneGrid& grid = params.grid;
    const long c = i % grid.inner, pixel = i / grid.inner, line = pixel / grid.width;
    const int x = static_cast<int>(pixel % grid.width), y = static_cast<int>(line % grid.height);
    const long row = line / grid.height * grid.height + params.from.row(x, y);
    params.out[i] = params.in[(row * grid.width + params.from.column(x, y)) * grid.inner + c];
  }
};

// Ordered dithering by the matrix of Bayer (1973), of 8 x 8 thresholds.
AVIDA_HD AVIDA_INLINE float bayer(int x, int y) {
  const int a = x ^ y;
  const int rank = (a & 1) << 5 | (y & 1) << 4 | (a & 2) << 2 | (y & 2) << 1 | (a & 4) >> 1 | (y & 4) >> 2;
  return (static_cast<float>(rank) + 0.5f) * (1.0f / 64);
}

struct Dither {
  float steps_in_one, step, most;  // of the colours that are left

  AVIDA_HD AVIDA_INLINE float operator()(float x, float threshold) const {
    float level = x * steps_in_one + threshold;
    level = level > 0 ? level : 0;
    level = level < most ? level : most;
    return static_cast<float>(static_cast<int>(level)) * step;
  }
};

template <class T>
struct DitherElement {
  static constexpr const char* header = "ops/effects/pieces.h";
  struct Params {
    T* out;
    const T* in;
    PlaneGrid grid;
    Dither by;
  };
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const long pixel = i / params.grid.inner;
    const float threshold = bayer(static_cast<int>(pixel % params.grid.width),
                                  static_cast<int>(pixel / params.grid.width % params.grid.height));
    params.out[i] = store_channel<T>(params.by(static_cast<float>(params.in[i]), threshold));
  }
};

// Where the elements of an image that is zoomed come from, along an axis.
struct ZoomedAt {
  int before;   // the element before, of which the one behind follows
  float share;  // of that one

  AVIDA_HD AVIDA_INLINE static ZoomedAt of(int i, int extent, float inverse) {
    const float middle = static_cast<float>(extent) * 0.5f;
    float at = (static_cast<float>(i) + 0.5f - middle) * inverse + middle - 0.5f;
    at = at > 0 ? at : 0;
    int before = static_cast<int>(at);
    const int last = extent > 1 ? extent - 2 : 0;
    before = before < last ? before : last;
    const float share = at - static_cast<float>(before);
    return {before, extent > 1 ? (share < 1 ? share : 1) : 0};
  }
};

// An item is an element: the mean of what is there when the image is zoomed by each of several factors.
template <class T>
struct ZoomElement {
  static constexpr const char* header = "ops/effects/pieces.h";
  struct Params {
    T* out;
    const T* in;
    PlaneGrid grid;
    const float* inverses;  // of the factors
    int count;
  };
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const PlaneGrid& grid = params.grid;
    const long c = i % grid.inner, pixel = i / grid.inner, line = pixel / grid.width;
    const int x = static_cast<int>(pixel % grid.width), y = static_cast<int>(line % grid.height);
    const T* plane = params.in + line / grid.height * grid.height * grid.width * grid.inner + c;
    const long right = grid.width > 1 ? grid.inner : 0, below = grid.height > 1 ? grid.width * grid.inner : 0;
    float sum = 0;
    for (int k = 0; k < params.count; k++) {
      const ZoomedAt row = ZoomedAt::of(y, static_cast<int>(grid.height), params.inverses[k]);
      const ZoomedAt column = ZoomedAt::of(x, static_cast<int>(grid.width), params.inverses[k]);
      const T* at = plane + (row.before * grid.width + column.before) * grid.inner;
      const float a = mixed(at[0], at[below], row.share), b = mixed(at[right], at[right + below], row.share);
      sum += a + (b - a) * column.share;
    }
    params.out[i] = store_channel<T>(sum * (1 / static_cast<float>(params.count)));
  }
  AVIDA_HD AVIDA_INLINE static float mixed(T a, T b, float share) {
    const float first = static_cast<float>(a);
    return first + (static_cast<float>(b) - first) * share;
  }
};

}  // namespace avida::ops
