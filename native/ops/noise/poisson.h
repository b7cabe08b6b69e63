// Random numbers of the Poisson distribution. Read by NVRTC too: no std headers.
#pragma once
#include "ops/random/distributions.h"

namespace avida::ops {

// The logarithm of k! for an integer k >= 0: Stirling's series, which is accurate from 10 on.
AVIDA_HD AVIDA_INLINE double log_factorial(double k) {
  double below = 1;  // k! = (x - 1)! / below
  double x = k + 1;
  for (; x < 10; x++) below *= x;
  const double inverse = 1 / x, square = inverse * inverse;
  constexpr double series[] = {1 / 12., -1 / 360., 1 / 1260., -1 / 1680., 1 / 1188.};
  constexpr double half_log_two_pi = 0.91893853320467274;
  return (x - 0.5) * portable::log(x) - x + half_log_two_pi + inverse * portable::polynomial(series, square) -
         portable::log(below);
}

// The number of cumulative probabilities below `u`.
AVIDA_HD AVIDA_INLINE double poisson_by_inversion(double mean, double u) {
  double probability = portable::exp_of_minus(mean), sum = probability, k = 0;
  while (u > sum && k < 100) {
    k++;
    probability *= mean / k;
    sum += probability;
  }
  return k;
}

// The same for one word of 32 bits: the first word of more than 0 events, of more than 1, and so on.
class PoissonSteps {
 public:
  static constexpr int kCounts = 128;  // the limit of what is drawn

  AVIDA_HD AVIDA_INLINE explicit PoissonSteps(double mean)
      : mean_(mean > 0 ? mean : 0), probability_(portable::exp_of_minus(mean_)) {}

  AVIDA_HD AVIDA_INLINE unsigned next() {
    sum_ += probability_;
    probability_ *= mean_ / ++steps_;
    const double end = sum_ * 0x1p32;
    return is_last() ? ~0u : static_cast<unsigned>(end < 0x1.fffffffep31 ? end : 0x1.fffffffep31);
  }
  // The count that the last result of next() belongs to.
  AVIDA_HD AVIDA_INLINE int count() const { return steps_ - 1; }
  AVIDA_HD AVIDA_INLINE bool is_last() const { return steps_ == kCounts; }

 private:
  double mean_, probability_, sum_ = 0;
  int steps_ = 0;
};

// Transformed rejection with a squeeze, for means of at least 10 (Hörmann, 1993: PTRS).
AVIDA_HD AVIDA_INLINE double poisson_by_rejection(double mean, const RandomKey& key, PhiloxBlock block) {
  const double b = 0.931 + 2.53 * math::sqrt(mean), a = -0.059 + 0.02483 * b;
  const double squeeze = 0.9277 - 3.6224 / (b - 2);
  for (;; block = following_block(key, block)) {
    const double u = open_unit(block.word[0], block.word[1]) - 0.5, v = open_unit(block.word[2], block.word[3]);
    const double edge = 0.5 - math::fabs(u);
    const double k = math::floor((2 * a / edge + b) * u + mean + 0.43);
    if (edge >= 0.07 && v <= squeeze) return k;
    if (k < 0 || (edge < 0.013 && v > edge)) continue;
    const double scale = 1.1239 + 1.1328 / (b - 3.4);
    if (portable::log(v * scale / (a / (edge * edge) + b)) <= k * portable::log(mean) - mean - log_factorial(k))
      return k;
  }
}

// A mean that is not above 0 gives 0. From 2^40 on the normal distribution stands in.
AVIDA_HD AVIDA_INLINE double poisson(double mean, const RandomKey& key, const PhiloxBlock& block) {
  if (!(mean > 0)) return 0;
  if (mean < 10) return poisson_by_inversion(mean, open_unit(block.word[0], block.word[1]));
  if (mean < 0x1p40) return poisson_by_rejection(mean, key, block);
  if (mean > 0x1p100) return mean;
  double drawn[2];
  normals(block, drawn);
  return math::floor(mean + math::sqrt(mean) * drawn[0]);
}

}  // namespace avida::ops
