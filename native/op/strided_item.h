// One element of what strided_copy.h moves. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/macros.h"

namespace avida {

// An item is an element of the dense output: of a transposition, a part, or (with steps of 0) something repeated.
// Elements are moved by their size alone.
template <class T>
struct StridedItem {
  static constexpr int kMostAxes = 16;
  struct Params {
    T* out;
    const T* in;  // where the element of index 0, 0, ... comes from
    int axes;
    long extent[kMostAxes], step[kMostAxes];  // of the output; by how many elements the input moves
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    long from = 0, rest = i;
    for (int d = params.axes - 1; d >= 0; rest /= params.extent[d--]) from += rest % params.extent[d] * params.step[d];
    params.out[i] = params.in[from];
  }
};

// An item is an element of one piece of a larger dense array: blocks of `block` elements, `stride` apart in the output.
template <class T>
struct JoinItem {
  struct Params {
    T* out;  // where the piece begins
    const T* in;
    long block, stride;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    params.out[i / params.block * params.stride + i % params.block] = params.in[i];
  }
};

}  // namespace avida
