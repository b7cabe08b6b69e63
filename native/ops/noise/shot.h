// The bodies of noise.shot: elements replaced by Poisson distributed counts. Read by NVRTC too: no std headers.
#pragma once
#include "ops/noise/poisson.h"

namespace avida::ops {

// Each item is an element, and takes a block of random words. A factor of 0 copies it.
template <class T, class Real>
struct ShotNoise {
  static constexpr const char* header = "ops/noise/shot.h";
  struct Params {
    T* out;
    const T* in;
    RandomKey key;
    double factor;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    if (params.factor == 0) {
      params.out[i] = params.in[i];
      return;
    }
    const PhiloxBlock block = random_block(params.key, static_cast<unsigned>(i));
    const Real mean = convert<Real>(params.in[i]);
    params.out[i] = convert<T>(static_cast<Real>(poisson(mean / params.factor, params.key, block) * params.factor));
  }
};

// Bytes with means up to this one have few likely counts, for which one word is enough. Each item is a block of four
// words and their elements.
constexpr double kMostWordMean = 32;

template <class Byte>
struct ShotNoiseOfBytes {
  static constexpr const char* header = "ops/noise/shot.h";
  struct Params {
    Byte* out;
    const Byte* in;
    long elements;
    RandomKey key;
    double factor;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long block) {
    const PhiloxBlock words = random_block(params.key, static_cast<unsigned>(block));
    for (int k = 0; k < 4; k++) {
      const long i = drawn_index<4>(block, k);
      if (i >= params.elements) continue;
      PoissonSteps steps(params.in[i] / params.factor);
      while (steps.next() <= words.word[k] && !steps.is_last()) continue;
      params.out[i] = convert<Byte>(steps.count() * params.factor);
    }
  }
};

}  // namespace avida::ops
