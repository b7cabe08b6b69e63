// The body of noise.gaussian: adds normally distributed numbers. Read by NVRTC too: no std headers.
#pragma once
#include "ops/random/distributions.h"

namespace avida::ops {

// Each item is one block of random words and its elements.
template <class T, class Real>
struct GaussianNoise {
  static constexpr const char* header = "ops/noise/gaussian.h";
  struct Params {
    T* out;
    const T* in;
    long elements;
    RandomKey key;
    Normal<Real> normal;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long block) {
    constexpr int count = kPerBlock<Real>;
    Real drawn[count];
    params.normal(random_block(params.key, static_cast<unsigned>(block)), drawn);
    for (int k = 0; k < count; k++) {
      const long i = drawn_index<count>(block, k);
      if (i < params.elements) params.out[i] = convert<T>(convert<Real>(params.in[i]) + drawn[k]);
    }
  }
};

}  // namespace avida::ops
