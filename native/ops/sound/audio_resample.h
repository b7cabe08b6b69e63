// The kernel of audio_resample. Read by NVRTC too: no std headers.
#pragma once
#include "device/element.h"

namespace avida::ops {

// Elements as levels, which are from -1 to 1, or from 0 to 1 for an unsigned output. Integers use their whole range.
struct SoundLevels {
  int from, to;
  float scale, offset;  // from elements of the input to levels
  float range;          // from levels to elements of the output

  AVIDA_HD AVIDA_INLINE float load(const void* in, long i) const {
    return load_element<float, AnyElement>(in, from, i) * scale + offset;
  }
  AVIDA_HD AVIDA_INLINE void store(void* out, long i, float level) const {
    store_element<AnyElement>(out, to, i, level * range);
  }
};

// An item is an element of the output. Positions are accumulated as in codecs/audio/resample_audio.cpp.
struct AudioResample {
  static constexpr const char* header = "ops/sound/audio_resample.h";
  static constexpr long kBlock = 256;
  static constexpr int kSteps = 32;

  struct Params {
    void* out;
    const void* in;
    SoundLevels levels;
    const float* weights;
    int lobes, taps;  // taps: the length of a row of weights
    long length, channels;
    double step;  // input elements for each of the output
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const long channel = item % params.channels, i = item / params.channels;
    const double start = static_cast<double>(i / kBlock * kBlock) * params.step;
    const long base = static_cast<long>(start);
    float position = static_cast<float>(start - static_cast<double>(base));
    const auto advance = static_cast<float>(params.step);
    for (long k = 0; k < i % kBlock; k++) position += advance;
    const long whole = static_cast<long>(position);
    const float fraction = (position - static_cast<float>(whole)) * kSteps;
    int row = static_cast<int>(fraction);
    row = row < 0 ? 0 : row > kSteps - 1 ? kSteps - 1 : row;
    const float* weights = params.weights + static_cast<long>(row) * params.taps;
    const float blend = fraction - static_cast<float>(row);
    const long first = base + whole - params.lobes + 1;
    float sum = 0;
    for (long t = 0; t < 2 * params.lobes; t++) {
      if (first + t < 0 || first + t >= params.length) continue;
      const float weight = weights[t] + (weights[t + params.taps] - weights[t]) * blend;
      sum += params.levels.load(params.in, (first + t) * params.channels + channel) * weight;
    }
    params.levels.store(params.out, item, sum);
  }
};

}  // namespace avida::ops
