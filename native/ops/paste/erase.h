// Regions filled with a value. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/divide.h"
#include "kernel/pieces.h"
#include "kernel/words.h"

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
        const long at = divided(divided(i, params.step[d]).whole, params.extent[d]).rest;
        const ErasedInterval& region = params.regions[k * params.axes + d];
        erased &= at >= region.begin && at < region.end;
      }
    }
    params.out[i] =
        erased ? params.fills[divided(divided(i, params.channel_step).whole, params.fill_count).rest] : params.in[i];
  }

  // Pieces that no region meets, or that lie within one.
  AVIDA_HD AVIDA_INLINE static bool run_piece(const Params& params, long first) {
    unsigned char bytes[kPieceBytes];
    for (long k = 0; k < params.region_count; k++) {
      bool met = true, within = params.channel_step == 1 || params.fill_count == 1;
      for (int d = 0; d < params.axes && met; d++) {
        const long begin = divided(first, params.step[d]).whole;
        const long last = divided(first + kPieceBytes / static_cast<long>(sizeof(T)) - 1, params.step[d]).whole;
        const long low = divided(begin, params.extent[d]).rest, high = low + last - begin;
        const ErasedInterval& region = params.regions[k * params.axes + d];
        met = high >= params.extent[d] || (low < region.end && high >= region.begin);
        within &= high < params.extent[d] && low >= region.begin && high < region.end;
      }
      if (!met) continue;
      if (!within) return false;
      load_repeated(params.fills, divided(first, params.fill_count).rest, params.fill_count, bytes);
      store_bytes(params.out + first, bytes);
      return true;
    }
    load_bytes(params.in + first, bytes);
    store_bytes(params.out + first, bytes);
    return true;
  }
};

}  // namespace avida::ops
