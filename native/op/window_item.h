// One element of the windows of window.h. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/any_element.h"

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

// An item is an element of the window. To and From are element types, or AnyElement.
template <class To, class From>
struct WindowItem {
  static constexpr const char* header = "op/window_item.h";
  static constexpr int kMostAxes = 16;
  struct Params {
    void* out;
    const void* in;
    const void* fill;  // elements of the output: one, or one for each index of channel_axis
    int to, from;      // the types, where they are known at run time only
    int fill_size;     // bytes of an element to fill with
    int axes, channel_axis;
    OutOfBounds policy;
    bool one_fill;
    long size[kMostAxes], start[kMostAxes], in_extent[kMostAxes];
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    long from = 0, step = 1, rest = i, channel = 0;
    bool inside = true;
    for (int d = params.axes - 1; d >= 0; d--) {
      const long next = d ? rest / params.size[d] : 0, at = rest - next * params.size[d];
      const long source = source_index(params.start[d] + at, params.in_extent[d], params.policy);
      rest = next;
      if (d == params.channel_axis) channel = at;
      inside &= source >= 0;
      from += source * step;
      step *= params.in_extent[d];
    }
    if (inside)
      convert_at<false, To, From>(params.out, params.to, i, params.in, params.from, from);
    else
      fill(params, i, params.one_fill ? 0 : channel);
  }

 private:
  AVIDA_HD AVIDA_INLINE static void fill(const Params& params, long i, long channel) {
    if constexpr (!same_type<To, AnyElement>) {
      static_cast<To*>(params.out)[i] = static_cast<const To*>(params.fill)[channel];
    } else {
      for (int b = 0; b < params.fill_size; b++)
        static_cast<char*>(params.out)[i * params.fill_size + b] =
            static_cast<const char*>(params.fill)[channel * params.fill_size + b];
    }
  }
};

}  // namespace avida
