// The bodies of autocontrast: the least and the largest value of each channel, and colours stretched between them.
#pragma once
#include "device/pixel.h"

namespace avida::ops {

// factor * x + addend
struct Stretch {
  float factor, addend;
};

AVIDA_HD AVIDA_INLINE Stretch stretch_of(float low, float high, float range) {
  if (!(high > low)) return {1, 0};  // a channel of one colour stays as it is
  const float factor = range / (high - low);
  return {factor, -low * factor};
}

// An item is a channel of a frame, whose elements are `step` apart. A block of threads looks at it.
template <class T>
struct ChannelExtremes {
  static constexpr const char* header = "ops/augment/autocontrast.h";
  static constexpr int kThreads = 256, kPhases = 2;
  struct Params {
    Stretch* made;
    const T* in;
    long channels, pixels, step, channel_step;
    float range;
  };
  struct Shared {
    float low[kThreads], high[kThreads];
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    if constexpr (phase == 0) {
      const T* in = params.in + item / params.channels * params.channels * params.pixels +
                    item % params.channels * params.channel_step;
      float low = 3e38f, high = -3e38f;
      for (long i = thread; i < params.pixels; i += kThreads) {
        const auto x = static_cast<float>(in[i * params.step]);
        low = x < low ? x : low;
        high = x > high ? x : high;
      }
      shared.low[thread] = low;
      shared.high[thread] = high;
    } else if (thread == 0) {
      float low = shared.low[0], high = shared.high[0];
      for (int i = 1; i < kThreads; i++) {
        low = shared.low[i] < low ? shared.low[i] : low;
        high = shared.high[i] > high ? shared.high[i] : high;
      }
      params.made[item] = stretch_of(low, high, params.range);
    }
  }
};

// Pixels of N channels.
template <int N>
struct StretchPixel {
  static constexpr const char* header = "ops/augment/autocontrast.h";
  static constexpr int in = N, out = N;
  template <class Number>
  AVIDA_HD AVIDA_INLINE static Pixel<N, Number> run(const Pixel<N, Number>& x, const Stretch* by) {
    Pixel<N, Number> made;
    for (int c = 0; c < N; c++) made[c] = x[c] * by[c].factor + by[c].addend;
    return made;
  }
};

}  // namespace avida::ops
