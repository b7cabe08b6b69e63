// The arithmetic of to_decibels. Read by NVRTC too: no std headers.
#pragma once
#include "device/portable_math.h"

namespace avida::ops {

// multiplier * log10(max(least, x / reference)); NaN counts as `least`, which is above 0.
AVIDA_HD AVIDA_INLINE float decibels(float x, float inverse_reference, float least, float factor) {
  constexpr float smallest = 0x1p-126f, highest = 0x1.fffffep127f, raised = 0x1p24f;
  float ratio = x * inverse_reference;
  ratio = ratio > least ? ratio : least;
  const bool subnormal = ratio<smallest, infinite = ratio> highest;
  const float normal = subnormal ? ratio * raised : ratio;
  const float log = portable::log(normal) - (subnormal ? 16.635532333438686f : 0.0f);  // the logarithm of 2 ** 24
  return (infinite ? ratio : log) * factor;
}

struct Decibels {
  static constexpr const char* header = "ops/sound/to_decibels.h";
  struct Params {
    float* out;
    const float* in;
    const float* maximum;  // the reference; null where it is given
    float inverse_reference, least, factor;
  };

  // The reference of a sample without a number above 0 is 1.
  AVIDA_HD AVIDA_INLINE static float inverse_of(float maximum) { return maximum > 0 ? 1 / maximum : 1; }
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const float inverse = params.maximum ? inverse_of(*params.maximum) : params.inverse_reference;
    params.out[i] = decibels(params.in[i], inverse, params.least, params.factor);
  }
};

}  // namespace avida::ops
