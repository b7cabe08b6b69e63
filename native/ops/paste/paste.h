// Images on larger canvases. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/divide.h"
#include "kernel/pieces.h"
#include "kernel/words.h"

namespace avida::ops {

// An item is an element of the canvas. Widths and places along them count elements: pixels times channels.
template <class T>
struct Paste {
  static constexpr const char* header = "ops/paste/paste.h";
  struct Params {
    T* out;
    const T* in;
    const T* fills;
    long fill_count;  // they repeat along the canvas's rows
    long width, in_width, in_height, top, left;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const auto [y, x] = divided(i, params.width);
    const long in_x = x - params.left, in_y = y - params.top;
    const bool inside = in_x >= 0 && in_x < params.in_width && in_y >= 0 && in_y < params.in_height;
    params.out[i] =
        inside ? params.in[in_y * params.in_width + in_x] : params.fills[divided(x, params.fill_count).rest];
  }

  // Pieces of a row that lie inside, or outside.
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
