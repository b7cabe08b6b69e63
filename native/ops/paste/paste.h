// The body of paste: an element of the canvas. Read by NVRTC too: no std headers.
#pragma once
#include "device/divide.h"
#include "device/words.h"
#include "loops/items/pieces.h"

namespace avida::ops {

// Each item is an element of the canvas. Widths and positions count elements: pixels times channels.
template <class T>
struct Paste {
  static constexpr const char* header = "ops/paste/paste.h";
  struct Params {
    T* out;
    const T* in;
    const T* fills;
    long fill_count;  // repeated along the canvas's rows
    long width, in_width, in_height, top, left;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const auto [y, x] = divided(i, params.width);
    const long in_x = x - params.left, in_y = y - params.top;
    const bool inside = in_x >= 0 && in_x < params.in_width && in_y >= 0 && in_y < params.in_height;
    params.out[i] =
        inside ? params.in[in_y * params.in_width + in_x] : params.fills[divided(x, params.fill_count).rest];
  }

  // Pieces of a row that lie inside or outside of the image.
  AVIDA_HD AVIDA_INLINE static bool run_piece(const Params& params, long first) {
    constexpr int n = kPieceBytes / sizeof(T);
    const auto [y, x] = divided(first, params.width);
    const long in_x = x - params.left, in_y = y - params.top;
    const bool row_inside = in_y >= 0 && in_y < params.in_height;
    const bool before = in_x + n <= 0, after = in_x >= params.in_width;
    unsigned char bytes[kPieceBytes];
    if (x + n > params.width) return false;
    if (row_inside && in_x >= 0 && in_x + n <= params.in_width) {
      load_bytes(params.in + in_y * params.in_width + in_x, bytes);
    } else if (!row_inside || before || after) {
      load_repeated(params.fills, divided(x, params.fill_count).rest, params.fill_count, bytes);
    } else {
      return false;
    }
    store_bytes(params.out + first, bytes);
    return true;
  }
};

}  // namespace avida::ops
