// The arithmetic of to_decibels. Read by NVRTC too: no std headers.
#pragma once
#include "device/portable_math.h"
#include "loops/items/kernel_inline.h"

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

// The greatest element of each part of a sample; 0 if none is above. A thread block makes one part.
struct GreatestOfPart {
  static constexpr const char* header = "ops/sound/to_decibels.h";
  static constexpr int kThreads = 256, kPhases = 3, kRow = 16;
  static constexpr long kPart = 4096;  // elements
  struct Params {
    float* out;  // of each part
    const float* in;
    long count;
  };
  struct Shared {
    float greatest[kThreads], of_rows[kThreads / kRow];
  };

  template <int phase>
  AVIDA_HD AVIDA_KERNEL_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    if constexpr (phase == 0) {
      const long end = (item + 1) * kPart < params.count ? (item + 1) * kPart : params.count;
      float most = 0;
      for (long i = item * kPart + thread; i < end; i += kThreads) most = greater(params.in[i], most);
      shared.greatest[thread] = most;
    } else if constexpr (phase == 1) {
      if (thread < kThreads / kRow) shared.of_rows[thread] = greatest<kRow>(shared.greatest + thread * kRow);
    } else {
      if (thread == 0) params.out[item] = greatest<kThreads / kRow>(shared.of_rows);
    }
  }

 private:
  AVIDA_HD AVIDA_INLINE static float greater(float x, float most) { return x > most ? x : most; }
  template <int count>
  AVIDA_HD AVIDA_INLINE static float greatest(const float* numbers) {
    float most = 0;
    for (int i = 0; i < count; i++) most = greater(numbers[i], most);
    return most;
  }
};

}  // namespace avida::ops
