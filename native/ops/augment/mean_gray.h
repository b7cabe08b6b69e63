// The mean of a plane of grays, whose sum is one of integers: the same in any order, on any device.
#pragma once
#include "device/convert.h"

namespace avida::ops {

// Floats have 18 bits of fraction, from -2^16 to 2^16, so that the sum of 2^28 of them fits.
template <class T>
AVIDA_HD AVIDA_INLINE long exact_gray(T x) {
  if constexpr (same_type<T, float>) {
    const float inside = x > -0x1p16f ? (x < 0x1p16f ? x : 0x1p16f) : -0x1p16f;
    return static_cast<long>(inside * 0x1p18f);
  } else {
    return x;
  }
}
template <class T>
AVIDA_HD AVIDA_INLINE float mean_of_grays(long sum, long pixels) {
  constexpr double unit = same_type<T, float> ? 0x1p-18 : 1;
  return static_cast<float>(static_cast<double>(sum) * unit / static_cast<double>(pixels));
}

// An item is a part of the plane, whose sum a block of threads makes.
template <class T>
struct SumGrays {
  static constexpr const char* header = "ops/augment/mean_gray.h";
  static constexpr int kThreads = 256, kPhases = 2;
  static constexpr long kPart = 64 * kThreads;  // pixels
  struct Params {
    const T* grays;
    long* sums;
    long pixels;
  };
  struct Shared {
    long sum[kThreads];
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    if constexpr (phase == 0) {
      const long end = (item + 1) * kPart < params.pixels ? (item + 1) * kPart : params.pixels;
      long sum = 0;
      for (long i = item * kPart + thread; i < end; i += kThreads) sum += exact_gray(params.grays[i]);
      shared.sum[thread] = sum;
    } else if (thread == 0) {
      long sum = 0;
      for (int i = 0; i < kThreads; i++) sum += shared.sum[i];
      params.sums[item] = sum;
    }
  }
};

// An item is a plane.
template <class T>
struct MeanOfSums {
  static constexpr const char* header = "ops/augment/mean_gray.h";
  struct Params {
    float* mean;
    const long* sums;
    long parts, pixels;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long) {
    long sum = 0;
    for (long i = 0; i < params.parts; i++) sum += params.sums[i];
    *params.mean = mean_of_grays<T>(sum, params.pixels);
  }
};

}  // namespace avida::ops
