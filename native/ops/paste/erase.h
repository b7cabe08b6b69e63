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

  AVIDA_HD AVIDA_INLINE static bool edit_piece(const Params& params, long first, unsigned (&words)[kPieceBytes / 4]) {
    if (first >> 31 != 0) return false;
    const auto start = static_cast<unsigned>(first);
    unsigned erased = 0;  // a bit for each element
    for (long k = 0; k < params.region_count && erased != kAll; k++)
      erased |= erased_by(params, params.regions + k * params.axes, start);
    if (erased == 0) return true;
    if (params.channel_step != 1 && params.fill_count != 1) return false;
    unsigned char fills[kPieceBytes];
    load_repeated(params.fills, divided(first, params.fill_count).rest, params.fill_count, fills);
    AVIDA_UNROLL
    for (int k = 0; k < kPieceBytes / 4; k++) {
      unsigned mask = 0;
      AVIDA_UNROLL
      for (int b = 0; b < 4; b++) mask |= (erased >> (4 * k + b) / sizeof(T) & 1 ? 0xffu : 0) << 8 * b;
      const unsigned fill = word_of(fills[4 * k], fills[4 * k + 1], fills[4 * k + 2], fills[4 * k + 3]);
      words[k] = (words[k] & ~mask) | (fill & mask);
    }
    return true;
  }

 private:
  static constexpr unsigned kElements = kPieceBytes / sizeof(T), kAll = (1u << kElements) - 1;

  // Which elements of a piece a region erases.
  AVIDA_HD AVIDA_INLINE static unsigned erased_by(const Params& params, const ErasedInterval* region, unsigned first) {
    bool within = true;
    for (int d = 0; d < params.axes; d++) {
      const ErasedAxis& axis = params.axis[d];
      const unsigned begin = axis.by_step(first), last = axis.by_step(first + kElements - 1);
      const long low = axis.by_extent.rest(begin, axis.by_extent(begin)), high = low + last - begin;
      if (high < axis.extent && (low >= region[d].end || high < region[d].begin)) return 0;
      within &= high < axis.extent && low >= region[d].begin && high < region[d].end;
    }
    if (within) return kAll;
    unsigned erased = 0;
    AVIDA_DO_NOT_UNROLL
    for (unsigned i = 0; i < kElements; i++) {
      bool holds = true;
      for (int d = 0; d < params.axes; d++) {
        const ErasedAxis& axis = params.axis[d];
        const unsigned at = axis.by_step(first + i);
        holds &= region[d].holds(axis.by_extent.rest(at, axis.by_extent(at)));
      }
      erased |= holds ? 1u << i : 0;
    }
    return erased;
  }
};

}  // namespace avida::ops
