// How the planes of pictures are mixed to channels, in fixed point, and how chroma is interpolated.
//
// Read by NVRTC too: no std headers.
#pragma once
#include "device/macros.h"
#include "device/math.h"

namespace avida {

// Samples are kept in fixed point with 8 fractional bits, coefficients with 13.
constexpr int kPlaneFraction = 8, kMixFraction = 13;

// Output channel c is sum(by[c][k] * plane k) + offset[c].
struct PlaneMix {
  int by[3][3];
  int offset[3];

  AVIDA_HD AVIDA_INLINE int channel(int c, int first, int second, int third) const {
    const int sum = by[c][0] * first + by[c][1] * second + by[c][2] * third + offset[c];
    const int value = sum >> (kMixFraction + kPlaneFraction);
    return value < 0 ? 0 : value > 255 ? 255 : value;
  }
};

// Two neighbouring samples and the weight of the second, in 256ths.
struct PlaneTap {
  int first, second, weight;

  // For element i of `to`, interpolated from the `from` samples of a plane that covers the same extent.
  AVIDA_HD AVIDA_INLINE static PlaneTap at(long i, int from, int to) {
    const double position = (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
    const double before = math::floor(position);
    const int first = static_cast<int>(before);
    return {within(first, from), within(first + 1, from), static_cast<int>((position - before) * 256 + 0.5)};
  }
  AVIDA_HD AVIDA_INLINE static int within(int k, int n) { return k < 0 ? 0 : k >= n ? n - 1 : k; }
};

}  // namespace avida
