// The kernels of normalize. Read by NVRTC too: no std headers.
#pragma once
#include "device/divide.h"
#include "device/element.h"
#include "device/math.h"
#include "device/words.h"
#include "ops/reductions/fold.h"

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

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) { store(params, i, params.variance[i]); }
  AVIDA_HD AVIDA_INLINE static void store(const Params& params, long i, double found) {
    const double variance = params.correction == 0 ? 0 : found * params.correction;
    params.out[i] = normalizing_factor(variance, math::sqrt(variance), params.scale, params.epsilon);
  }
};

// An item is a mean and a factor, from the moments of what is normalised.
struct StatisticsItem {
  static constexpr const char* header = "ops/generic/normalize.h";
  struct Params {
    FactorItem::Params factor;  // without variances
    double* mean;
    const ByteMoments* totals;  // `width` side by side, `parts` of them for each row
    long count, parts, width;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const long row = i / params.width, column = i - row * params.width;
    const ByteMoments* totals = params.totals + row * params.parts * params.width + column;
    ByteMoments total = totals[0];
    for (long part = 1; part < params.parts; part++) total = AddByteMoments::join(total, totals[part * params.width]);
    const double mean = quotient<double>(total.sum, params.count);
    params.mean[i] = mean;
    FactorItem::store(params.factor, i, total.distances(params.count, mean) / static_cast<double>(params.count));
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

// The same, computed as float, where statistics repeat along the elements: one for each of up to kThreads channels. An
// item is kLoads times four elements for each thread, which meets the same channels every time.
template <class To, class From>
struct NormalizeChannels {
  static constexpr const char* header = "ops/generic/normalize.h";
  static constexpr int kThreads = 256, kPhases = 1, kLoads = 4, kTogether = 4;
  struct Shared {};
  struct Params {
    To* out;
    const From* in;
    const double *mean, *factor;
    int mean_step, factor_step;  // 0 for one number
    unsigned channels;
    long elements;
    float shift;
  };

  AVIDA_HD AVIDA_INLINE static unsigned threads_for(unsigned channels) { return kThreads / channels * channels; }
  AVIDA_HD AVIDA_INLINE static long items_for(long elements, unsigned channels) {
    const long item = long{threads_for(channels)} * kTogether * kLoads;
    return (elements + item - 1) / item;
  }

  template <int>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared&, long item, int thread) {
    const unsigned threads = threads_for(params.channels);
    if (static_cast<unsigned>(thread) >= threads) return;
    float mean[kTogether], factor[kTogether];
    AVIDA_UNROLL
    for (int k = 0; k < kTogether; k++) {
      const int channel = static_cast<int>((static_cast<unsigned>(thread) * kTogether + k) % params.channels);
      mean[k] = static_cast<float>(params.mean[channel * params.mean_step]);
      factor[k] = static_cast<float>(params.factor[channel * params.factor_step]);
    }
    auto made = [&](From x, int k) { return convert<To>((convert<float>(x) - mean[k]) * factor[k] + params.shift); };
    const long step = long{threads} * kTogether;
    long first = item * kLoads * step + long{thread} * kTogether;
    if (first + (kLoads - 1) * step + kTogether <= params.elements) {
      Elements<From, kTogether> read[kLoads];
      AVIDA_UNROLL
      for (int j = 0; j < kLoads; j++) read[j] = load_elements<kTogether>(params.in + first + j * step);
      AVIDA_UNROLL
      for (int j = 0; j < kLoads; j++) {
        Elements<To, kTogether> to;
        AVIDA_UNROLL
        for (int k = 0; k < kTogether; k++) to.at[k] = made(read[j].at[k], k);
        store_elements(params.out + first + j * step, to);
      }
      return;
    }
    for (int j = 0; j < kLoads; j++, first += step)
      for (int k = 0; k < kTogether; k++)
        if (first + k < params.elements) params.out[first + k] = made(params.in[first + k], k);
  }
};

}  // namespace avida::ops
