// The kernel of nonsilent_region. Read by NVRTC too: no std headers.
#pragma once
#include "device/convert.h"
#include "loops/items/kernel_inline.h"

namespace avida::ops {

// Squares of small integers are added up exactly, those of others in float32.
template <class In, bool exact = sizeof(In) <= 2>
struct PowerSum {
  using type = long;
};
template <class In>
struct PowerSum<In, false> {
  using type = float;
};

struct NonsilentParams {
  int *begin, *length;
  const void* in;
  float* powers;  // memory for one number for each window
  long elements, window;
  long interval;            // sums are made anew whenever the newest element is at a multiple of this
  float reference, cutoff;  // the reference, 0 for the greatest power; the threshold as a fraction of it

  AVIDA_HD long windows() const { return elements - window + 1; }
  AVIDA_HD long intervals() const { return (elements - 1) / interval - (window - 1) / interval + 1; }
};

// The mean squares of the windows whose newest element is in one interval, added up in the order of the elements.
// Returns the greatest. Rounding errors remain in a sum up to the end of an interval, and so in the results.
template <class In>
AVIDA_HD inline float window_powers(const NonsilentParams& params, long index) {
  using Sum = typename PowerSum<In>::type;
  const auto* in = static_cast<const In*>(params.in);
  auto squared = [](In x) { return static_cast<Sum>(x) * static_cast<Sum>(x); };
  const float factor = 1 / static_cast<float>(params.window);
  const long whole = (params.window - 1) / params.interval + index;
  const long begin = index == 0 ? 0 : whole * params.interval - params.window + 1;
  long end = (whole + 1) * params.interval - params.window + 1;
  if (end > params.windows()) end = params.windows();
  Sum sum = 0;
  float greatest = 0;
  for (long i = 0; i < params.window; i++) sum += squared(in[begin + i]);
  for (long at = begin; at < end; at++) {
    if (at > begin) sum = (sum - squared(in[at - 1])) + squared(in[at + params.window - 1]);
    const float power = static_cast<float>(sum) * factor;
    params.powers[at] = power;
    greatest = power > greatest ? power : greatest;
  }
  return greatest;
}

AVIDA_HD inline float power_threshold(const NonsilentParams& params, float greatest) {
  return (params.reference > 0 ? params.reference : greatest) * params.cutoff;
}

// `first` and `last` are windows; first > last if all are silent.
AVIDA_HD inline void store_region(const NonsilentParams& params, long first, long last) {
  *params.begin = first > last ? 0 : static_cast<int>(first);
  *params.length = first > last ? 0 : static_cast<int>(last - first + params.window);
}

// A thread block processes the only item of a sample. Each thread has some of the intervals.
template <class In>
struct NonsilentRegion {
  static constexpr const char* header = "ops/sound/nonsilent_region.h";
  static constexpr int kThreads = 256, kPhases = 3;
  using Params = NonsilentParams;
  struct Shared {
    float greatest[kThreads];
    long first[kThreads], last[kThreads];
  };

  template <int phase>
  AVIDA_HD AVIDA_KERNEL_INLINE static void run(const Params& params, Shared& shared, long, int thread) {
    if constexpr (phase == 0) {
      float greatest = 0;
      for (long i = thread; i < params.intervals(); i += kThreads) {
        const float power = window_powers<In>(params, i);
        greatest = power > greatest ? power : greatest;
      }
      shared.greatest[thread] = greatest;
    } else if constexpr (phase == 1) {
      float greatest = 0;
      for (int i = 0; i < kThreads; i++) greatest = shared.greatest[i] > greatest ? shared.greatest[i] : greatest;
      const float threshold = power_threshold(params, greatest);
      long first = params.windows(), last = -1;
      for (long at = thread; at < params.windows(); at += kThreads)
        if (params.powers[at] >= threshold) {
          first = at < first ? at : first;
          last = at;
        }
      shared.first[thread] = first;
      shared.last[thread] = last;
    } else if (thread == 0) {
      for (int i = 1; i < kThreads; i++) {
        if (shared.first[i] < shared.first[0]) shared.first[0] = shared.first[i];
        if (shared.last[i] > shared.last[0]) shared.last[0] = shared.last[i];
      }
      store_region(params, shared.first[0], shared.last[0]);
    }
  }
};

}  // namespace avida::ops
