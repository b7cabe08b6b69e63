// One element of what strided_copy.h moves. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/macros.h"

namespace avida {

struct alignas(16) SixteenBytes {
  unsigned long low, high;
};

// Most often the channels of a pixel.
template <class T>
struct ThreeElements {
  T at[3];
};

// An item is an element: of a transposition, a part, a piece of something larger, or (with steps of 0) something
// repeated. Elements are moved by their size alone.
template <class T>
struct StridedItem {
  static constexpr const char* header = "op/strided_item.h";
  static constexpr int kMostAxes = 17;  // the bytes of an element may be one
  struct Params {
    T* out;
    const T* in;  // where the element of index 0, 0, ... comes from
    int axes;
    long extent[kMostAxes], out_step[kMostAxes], in_step[kMostAxes];  // in elements
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    long to = 0, from = 0, rest = i;
    for (int d = params.axes - 1; d > 0; rest /= params.extent[d--]) {
      const long at = rest % params.extent[d];
      to += at * params.out_step[d];
      from += at * params.in_step[d];
    }
    params.out[to + rest * params.out_step[0]] = params.in[from + rest * params.in_step[0]];
  }
};

}  // namespace avida
