// One element normalised. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/convert.h"

namespace avida::ops {

// An item is an element. Real is float or double; means and factors are double, and repeated along axes of step 0.
template <class Real, class To, class From>
struct NormalizeItem {
  static constexpr const char* header = "ops/generic/normalize.h";
  static constexpr int kMostAxes = 16;
  struct Params {
    To* out;
    const From* in;
    const double *mean, *factor;
    int axes;
    long extent[kMostAxes], mean_step[kMostAxes], factor_step[kMostAxes];
    double shift;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    long mean = 0, factor = 0, rest = i;
    for (int d = params.axes - 1; d >= 0; rest /= params.extent[d--]) {
      mean += rest % params.extent[d] * params.mean_step[d];
      factor += rest % params.extent[d] * params.factor_step[d];
    }
    const Real distance = convert<Real>(params.in[i]) - static_cast<Real>(params.mean[mean]);
    params.out[i] = convert<To>(distance * static_cast<Real>(params.factor[factor]) + static_cast<Real>(params.shift));
  }
};

}  // namespace avida::ops
