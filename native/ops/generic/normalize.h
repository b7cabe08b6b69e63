// The kernels of normalize. Read by NVRTC too: no std headers.
#pragma once
#include "device/element.h"
#include "device/math.h"

namespace avida::ops {

// What the distance from the mean is multiplied with; 0 where there is no deviation to divide by.
AVIDA_HD AVIDA_INLINE double normalizing_factor(double variance, double stddev, double scale, double epsilon) {
  if (epsilon != 0) return scale / math::sqrt(variance + epsilon);
  return stddev == 0 ? 0 : scale / stddev;
}

// An item is a factor, from the variance of what is normalised.
struct FactorItem {
  static constexpr const char* header = "ops/generic/normalize.h";
  struct Params {
    double* out;
    const double* variance;
    double correction;  // of the variance, for degrees of freedom; 0: there is none left
    double scale, epsilon;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const double variance = params.correction == 0 ? 0 : params.variance[i] * params.correction;
    params.out[i] = normalizing_factor(variance, math::sqrt(variance), params.scale, params.epsilon);
  }
};

// An item is the mean of what all samples have at its index.
struct BatchMeanItem {
  static constexpr const char* header = "ops/generic/normalize.h";
  struct Params {
    double* out;
    const double* of_samples;  // one sample after the other, `items` each
    const long* weights;       // how many elements each comes from
    long samples, items;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    double sum = 0;
    long count = 0;
    for (long k = 0; k < params.samples; k++) {
      count += params.weights[k];
      if (params.weights[k] > 0)
        sum += params.of_samples[k * params.items + i] * static_cast<double>(params.weights[k]);
    }
    params.out[i] = sum / static_cast<double>(count);
  }
};

// An item is an element. Real is float or double, To and From are element types, or AnyElement; means and factors are
// double, and repeated along axes of step 0.
template <class Real, class To, class From>
struct NormalizeItem {
  static constexpr const char* header = "ops/generic/normalize.h";
  static constexpr int kMostAxes = 16;
  struct Params {
    void* out;
    const void* in;
    int to, from;  // the types, where they are known at run time only
    const double *mean, *factor;
    int axes;
    long extent[kMostAxes], mean_step[kMostAxes], factor_step[kMostAxes];
    double shift;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    long mean = 0, factor = 0, rest = i;
    for (int d = params.axes - 1; d >= 0; d--) {
      const long next = d ? rest / params.extent[d] : 0, at = rest - next * params.extent[d];
      rest = next;
      mean += at * params.mean_step[d];
      factor += at * params.factor_step[d];
    }
    const Real distance = load_element<Real, From>(params.in, params.from, i) - static_cast<Real>(params.mean[mean]);
    const Real made = distance * static_cast<Real>(params.factor[factor]) + static_cast<Real>(params.shift);
    store_element<To>(params.out, params.to, i, made);
  }
};

}  // namespace avida::ops
