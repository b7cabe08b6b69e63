// Regions filled with a value. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/macros.h"

namespace avida::ops {

// Elements from `begin` to before `end` of an axis.
struct ErasedInterval {
  long begin, end;
};

// An item is an element.
template <class T>
struct Erase {
  static constexpr const char* header = "ops/paste/erase.h";
  static constexpr int kMostAxes = 16;
  struct Params {
    T* out;
    const T* in;
    int axes;                                 // that regions speak of
    long extent[kMostAxes], step[kMostAxes];  // of each of these axes
    const ErasedInterval* regions;            // for each region, one for each of the axes
    long region_count;
    const T* fills;
    long fill_count, channel_step;  // elements from one channel to the next
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    bool erased = false;
    for (long k = 0; k < params.region_count && !erased; k++) {
      erased = true;
      for (int d = 0; d < params.axes; d++) {
        const long at = i / params.step[d] % params.extent[d];
        const ErasedInterval& region = params.regions[k * params.axes + d];
        erased &= at >= region.begin && at < region.end;
      }
    }
    params.out[i] = erased ? params.fills[i / params.channel_step % params.fill_count] : params.in[i];
  }
};

}  // namespace avida::ops
