// Images on larger canvases. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/macros.h"

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
    const long x = i % params.width, in_x = x - params.left, in_y = i / params.width - params.top;
    const bool inside = in_x >= 0 && in_x < params.in_width && in_y >= 0 && in_y < params.in_height;
    params.out[i] = inside ? params.in[in_y * params.in_width + in_x] : params.fills[x % params.fill_count];
  }
};

}  // namespace avida::ops
