// Regions of several images on one canvas. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/divide.h"

namespace avida::ops {

template <class T>
struct PastedRegion {
  const T* in;
  long in_height, in_width;                   // of the image that the region is part of
  long in_start[2], out_start[2], extent[2];  // along H and W
};

// An item is an element of the canvas; of regions that overlap, the last one is seen.
template <class T>
struct MultiPaste {
  static constexpr const char* header = "ops/paste/multi_paste.h";
  struct Params {
    T* out;
    const PastedRegion<T>* regions;
    long region_count, height, width, channels;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const auto [pixel, c] = divided(i, params.channels);
    const auto [line_of_all, x] = divided(pixel, params.width);
    const auto [frame, y] = divided(line_of_all, params.height);
    for (long k = params.region_count - 1; k >= 0; k--) {
      const PastedRegion<T>& region = params.regions[k];
      const long row = y - region.out_start[0], column = x - region.out_start[1];
      if (row < 0 || row >= region.extent[0] || column < 0 || column >= region.extent[1]) continue;
      const long line = frame * region.in_height + region.in_start[0] + row;
      params.out[i] = region.in[(line * region.in_width + region.in_start[1] + column) * params.channels + c];
      return;
    }
    params.out[i] = T(0);
  }
};

}  // namespace avida::ops
