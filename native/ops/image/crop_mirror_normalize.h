// One element cropped, mirrored and normalised. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/convert.h"

namespace avida::ops {

// output = (input - mean) * factor + shift
struct Normalization {
  float mean, factor, shift;

  AVIDA_HD AVIDA_INLINE float operator()(float x) const { return (x - mean) * factor + shift; }
};

// An item is an element of the output, in the order of its axes; there may be more channels than in the input.
template <class To, class From>
struct CropMirrorNormalize {
  static constexpr const char* header = "ops/image/crop_mirror_normalize.h";
  static constexpr int kMostAxes = 5;
  struct Params {
    To* out;
    const From* in;
    int axes, width_axis, channel_axis;
    bool mirror;
    long size[kMostAxes];                                             // of the output
    long start[kMostAxes], in_extent[kMostAxes], in_step[kMostAxes];  // of the input, along the output's axes
    const Normalization* by;                                          // for each channel of the input
    const float* fill;                                                // one number, one for each channel, or none for 0
    long fill_count;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    long from = 0, rest = i, channel = 0;
    bool inside = true;
    for (int d = params.axes - 1; d >= 0; d--) {
      long at = rest % params.size[d];
      rest /= params.size[d];
      if (d == params.channel_axis) channel = at;
      if (d == params.width_axis && params.mirror) at = params.size[d] - 1 - at;
      const long source = params.start[d] + at;
      inside &= source >= 0 && source < params.in_extent[d];
      from += source * params.in_step[d];
    }
    params.out[i] = convert<To>(inside ? params.by[channel](convert<float>(params.in[from])) : fill(params, channel));
  }

 private:
  AVIDA_HD AVIDA_INLINE static float fill(const Params& params, long channel) {
    if (params.fill_count == 1) return params.fill[0];
    return channel < params.fill_count ? params.fill[channel] : 0.0f;
  }
};

}  // namespace avida::ops
