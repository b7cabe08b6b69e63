// One pixel cropped, mirrored and normalised. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/element.h"

namespace avida::ops {

// output = (input - mean) * factor + shift
struct Normalization {
  float mean, factor, shift;

  AVIDA_HD AVIDA_INLINE float operator()(float x) const { return (x - mean) * factor + shift; }
};

// An item is a pixel of the output, in the order of its axes without that of the channels, of which there may be more
// than in the input. To and From are element types, or AnyElement.
template <class To, class From>
struct CropMirrorNormalize {
  static constexpr const char* header = "ops/image/crop_mirror_normalize.h";
  static constexpr int kMostAxes = 4;
  struct Params {
    void* out;
    const void* in;
    int to, from;  // the types, where they are known at run time only
    int axes, width_axis;
    bool mirror;
    long size[kMostAxes], out_step[kMostAxes];
    long start[kMostAxes], in_extent[kMostAxes], in_step[kMostAxes];
    int channels, out_channels;
    long channel_step, out_channel_step;
    const Normalization* by;  // for each channel of the input
    const float* fill;        // for each channel of the output
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    long from = 0, to = 0, rest = i;
    bool inside = true;
    for (int d = params.axes - 1; d >= 0; d--) {
      const long next = d ? rest / params.size[d] : 0, at = rest - next * params.size[d];
      rest = next;
      const long source = params.start[d] + (d == params.width_axis && params.mirror ? params.size[d] - 1 - at : at);
      inside &= source >= 0 && source < params.in_extent[d];
      from += source * params.in_step[d];
      to += at * params.out_step[d];
    }
    for (int c = 0; c < params.out_channels; c++) {
      const float made =
          inside && c < params.channels
              ? params.by[c](load_element<float, From>(params.in, params.from, from + c * params.channel_step))
              : params.fill[c];
      store_element<To>(params.out, params.to, to + c * params.out_channel_step, made);
    }
  }
};

}  // namespace avida::ops
