// One element of the windows of window.h. Read by NVRTC too: no std headers.
#pragma once
#include "op/convert_item.h"

namespace avida {

// What a window shows where it reaches beyond the sample.
enum class OutOfBounds { error, constant, edge, reflect_1001, reflect_101, wrap, trim };

// Where index i of an axis is taken from; -1: from nowhere, the constant fills it.
AVIDA_HD AVIDA_INLINE long source_index(long i, long extent, OutOfBounds policy) {
  if (i >= 0 && i < extent) return i;
  switch (policy) {
    case OutOfBounds::edge:
      return i < 0 ? 0 : extent - 1;
    case OutOfBounds::reflect_1001:
      i = (i % (2 * extent) + 2 * extent) % (2 * extent);
      return i < extent ? i : 2 * extent - 1 - i;
    case OutOfBounds::reflect_101:
      if (extent == 1) return 0;
      i = (i % (2 * extent - 2) + 2 * extent - 2) % (2 * extent - 2);
      return i < extent ? i : 2 * extent - 2 - i;
    case OutOfBounds::wrap:
      return (i % extent + extent) % extent;
    default:
      return -1;
  }
}

// An item is an element of the window.
template <class To, class From>
struct WindowItem {
  static constexpr int kMostAxes = 16;
  struct Params {
    To* out;
    const From* in;
    int axes;
    long size[kMostAxes], start[kMostAxes], in_extent[kMostAxes];
    OutOfBounds policy;
    const float* fill;  // one number, or one for each index of channel_axis
    long fill_count;
    int channel_axis;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    long from = 0, step = 1, rest = i, channel = 0;
    bool inside = true;
    for (int d = params.axes - 1; d >= 0; d--) {
      const long at = rest % params.size[d];
      const long source = source_index(params.start[d] + at, params.in_extent[d], params.policy);
      rest /= params.size[d];
      if (d == params.channel_axis) channel = at;
      inside &= source >= 0;
      from += source * step;
      step *= params.in_extent[d];
    }
    params.out[i] =
        inside ? truncate<To>(params.in[from]) : fill_element<To>(params.fill[params.fill_count > 1 ? channel : 0]);
  }
};

}  // namespace avida
