// The body of erase: an element, or the value that its region is filled with. Read by NVRTC too: no std headers.
#pragma once
#include "device/divide.h"
#include "device/words.h"
#include "loops/items/pieces.h"

namespace avida::ops {

// Indices along an axis, from `begin` to before `end`.
struct ErasedInterval {
  long begin, end;

  AVIDA_HD AVIDA_INLINE bool holds(long index) const { return index >= begin && index < end; }
};

// An axis of regions.
struct ErasedAxis {
  long extent, step;
  Divisor by_extent, by_step;
};

// Each item is an element.
template <class T>
struct Erase {
  static constexpr const char* header = "ops/paste/erase.h";
  static constexpr int kMostAxes = 16;
  struct Params {
    T* out;
    const T* in;
    int axes;  // the number of axes of a region
    ErasedAxis axis[kMostAxes];
    const ErasedInterval* regions;  // for each region, one for each of the axes
    long region_count;
    const T* fills;
    long fill_count, channel_step;  // elements from one channel to the next

    AVIDA_HD AVIDA_INLINE long index(int d, long element) const {
      return divided(divided(element, axis[d].step).whole, axis[d].extent).rest;
    }
    AVIDA_HD AVIDA_INLINE T fill(long element) const {
      return fills[divided(divided(element, channel_step).whole, fill_count).rest];
    }
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    bool erased = false;
    for (long k = 0; k < params.region_count && !erased; k++) {
      erased = true;
      for (int d = 0; d < params.axes; d++) erased &= params.regions[k * params.axes + d].holds(params.index(d, i));
    }
    params.out[i] = erased ? params.fill(i) : params.in[i];
  }

  // Pieces that no region touches, or that lie within one.
  AVIDA_HD AVIDA_INLINE static bool run_piece(const Params& params, long first) {
    if (first >> 31 != 0) return false;
    unsigned words[kPieceBytes / 4];
    for (long k = 0; k < params.region_count; k++) {
      bool touched = true, within = params.channel_step == 1 || params.fill_count == 1;
      for (int d = 0; d < params.axes && touched; d++) {
        const ErasedAxis& axis = params.axis[d];
        const auto start = static_cast<unsigned>(first);
        const unsigned begin = axis.by_step(start), last = axis.by_step(start + kPieceBytes / sizeof(T) - 1);
        const long low = axis.by_extent.rest(begin, axis.by_extent(begin)), high = low + last - begin;
        const ErasedInterval& region = params.regions[k * params.axes + d];
        touched = high >= axis.extent || (low < region.end && high >= region.begin);
        within &= high < axis.extent && low >= region.begin && high < region.end;
      }
      if (!touched) continue;
      if (!within) return false;
      unsigned char bytes[kPieceBytes];
      load_repeated(params.fills, divided(first, params.fill_count).rest, params.fill_count, bytes);
      store_bytes(params.out + first, bytes);
      return true;
    }
    load_words(params.in + first, words);
    store_words(params.out + first, words);
    return true;
  }
};

}  // namespace avida::ops
