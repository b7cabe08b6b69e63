// The distributions: how random words become numbers, and which element gets which number.
#pragma once
#include "device/math.h"
#include "device/philox.h"
#include "device/portable_math.h"

namespace avida::ops {

// The numbers that one block gives: a float takes one word, a double two.
template <class Real>
constexpr int kPerBlock = sizeof(Real) == 4 ? 4 : 2;

// The blocks of a stream are laid out sixteen at a time, a tile: the first number of each block, then the second of
// each, and so on. So both registers and the threads of a GPU write side by side.
constexpr int kLanes = 16;

// The element that gets number k of a block.
template <int per_block>
AVIDA_HD AVIDA_INLINE long drawn_index(long block, int k) {
  return (block / kLanes * per_block + k) * kLanes + block % kLanes;
}
// The blocks that the elements take; some of the last tile may remain unused.
template <int per_block>
AVIDA_HD AVIDA_INLINE long drawn_blocks(long elements) {
  constexpr long tile = kLanes * per_block;
  return (elements + tile - 1) / tile * kLanes;
}

// The highest `bits` bits of a word as a fraction of one. Converted as int, which vectorises everywhere.
template <class Real, int bits>
AVIDA_HD AVIDA_INLINE Real fraction(unsigned word) {
  static_assert(bits < 32);
  return static_cast<Real>(static_cast<int>(word >> (32 - bits))) * (Real(1) / Real(1u << bits));
}

// [0, 1), all multiples of 2^-24 or 2^-53 equally likely.
AVIDA_HD AVIDA_INLINE float unit(unsigned word) { return fraction<float, 24>(word); }
AVIDA_HD AVIDA_INLINE double unit(unsigned high, unsigned low) {
  return fraction<double, 27>(high) + fraction<double, 26>(low) * 0x1p-27;
}
// (0, 1), symmetric.
AVIDA_HD AVIDA_INLINE double open_unit(unsigned high, unsigned low) {
  return fraction<double, 26>(high) + (fraction<double, 26>(low) * 0x1p-26 + 0x1p-53);
}

AVIDA_HD AVIDA_INLINE void units(const PhiloxBlock& block, float (&out)[4]) {
  for (int i = 0; i < 4; i++) out[i] = unit(block.word[i]);
}
AVIDA_HD AVIDA_INLINE void units(const PhiloxBlock& block, double (&out)[2]) {
  for (int i = 0; i < 2; i++) out[i] = unit(block.word[2 * i], block.word[2 * i + 1]);
}

// [low, high). Computed in halves, since the width of a range can be too large for its type.
template <class Real>
struct Uniform {
  using Number = Real;
  Real half_low, half_width;
  Real last;  // the largest result: rounding must not reach the end of the range

  AVIDA_HD AVIDA_INLINE void operator()(const PhiloxBlock& block, Real (&out)[kPerBlock<Real>]) const {
    units(block, out);
    for (Real& x : out) {
      Real y = (half_low + x * half_width) * 2;
      x = y < last ? y : last;
    }
  }
};

// The point at distance `radius` from the origin, at an angle of `quadrant` quarters of a circle plus `eighth`, which
// is within an eighth of a circle, in radians.
template <class Real>
AVIDA_HD AVIDA_INLINE void point(Real radius, unsigned quadrant, Real eighth, Real& x, Real& y) {
  Real s = portable::sin_of_small(eighth) * radius, c = portable::cos_of_small(eighth) * radius;
  Real a = quadrant & 1 ? s : c, b = quadrant & 1 ? c : s;
  x = (quadrant ^ quadrant >> 1) & 1 ? -a : a;
  y = quadrant & 2 ? -b : b;
}

constexpr double kHalfPi = 1.57079632679489662;

// Two normally distributed numbers (Box and Muller, 1958): a radius and a direction. The radius comes from 40 bits, so
// that the numbers reach beyond 7, the direction from 24.
AVIDA_HD AVIDA_INLINE void normals(const PhiloxBlock& block, float (&out)[4]) {
  for (int i = 0; i < 4; i += 2) {
    unsigned a = block.word[i], b = block.word[i + 1];
    float u = fraction<float, 31>(a) + (static_cast<float>(static_cast<int>((a & 1) << 8 | b >> 24)) + 0.5f) * 0x1p-40f;
    float radius = math::sqrt(-2 * portable::log(u));
    float turn = (static_cast<float>(static_cast<int>(b & 0x3fffff)) + 0.5f) * 0x1p-22f - 0.5f;
    point(radius, b >> 22 & 3, turn * static_cast<float>(kHalfPi), out[i], out[i + 1]);
  }
}
// 63 bits of radius: the numbers reach beyond 9.
AVIDA_HD AVIDA_INLINE void normals(const PhiloxBlock& block, double (&out)[2]) {
  unsigned a = block.word[0], b = block.word[1], c = block.word[2], d = block.word[3];
  double u = fraction<double, 31>(a) + (fraction<double, 31>(a << 31 | b >> 1) * 0x1p-31 + 0x1p-63);
  double radius = math::sqrt(-2 * portable::log(u));
  double turn = fraction<double, 30>(c << 2) + (fraction<double, 23>(d) * 0x1p-30 + 0x1p-54) - 0.5;
  point(radius, c >> 30, turn * kHalfPi, out[0], out[1]);
}

template <class Real>
struct Normal {
  using Number = Real;
  Real mean, stddev;

  AVIDA_HD AVIDA_INLINE void operator()(const PhiloxBlock& block, Real (&out)[kPerBlock<Real>]) const {
    normals(block, out);
    for (Real& x : out) x = mean + stddev * x;
  }
};

struct CoinFlip {
  using Number = int;
  unsigned long ones;  // the count of the 2^32 words that mean 1

  AVIDA_HD AVIDA_INLINE void operator()(const PhiloxBlock& block, int (&out)[4]) const {
    // Compared with one less than the count, since 2^32 does not fit into a word.
    unsigned last = static_cast<unsigned>(ones - 1), some = ones != 0;
    for (int i = 0; i < 4; i++) out[i] = (block.word[i] <= last) & some;
  }
};

// Numbers in [0, 1), for lookups in cumulative probabilities.
struct Units {
  using Number = double;
  AVIDA_HD AVIDA_INLINE void operator()(const PhiloxBlock& block, double (&out)[2]) const { units(block, out); }
};

// An integer in [0, n), each equally likely, from one word of a block (Lemire, 2019): words whose product with n falls
// into the `surplus`, 2^32 mod n, are rejected, and the same word of the following block is taken.
AVIDA_HD AVIDA_INLINE unsigned below(unsigned n, unsigned surplus, const RandomKey& key, PhiloxBlock block, int word) {
  unsigned long product = static_cast<unsigned long>(block.word[word]) * n;
  while (static_cast<unsigned>(product) < surplus) {
    block = following_block(key, block);
    product = static_cast<unsigned long>(block.word[word]) * n;
  }
  return static_cast<unsigned>(product >> 32);
}
// The same for n of more than 32 bits: as many bits as needed, until they are below n.
AVIDA_HD AVIDA_INLINE long below(long n, const RandomKey& key, PhiloxBlock block) {
  unsigned long mask = static_cast<unsigned long>(n - 1);
  for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
  for (;; block = following_block(key, block)) {
    long number = static_cast<long>((static_cast<unsigned long>(block.word[1]) << 32 | block.word[0]) & mask);
    if (number < n) return number;
  }
}

// Element i of a stream of indices in [0, count), each equally likely, as draw_indices() makes them.
AVIDA_HD AVIDA_INLINE long random_index(const RandomKey& key, long count, long i) {
  if (count > 0xffffffffl) return below(count, key, random_block(key, static_cast<unsigned>(i)));
  constexpr long tile = 4 * kLanes;
  const unsigned few = static_cast<unsigned>(count), surplus = (0u - few) % few;
  const unsigned block = static_cast<unsigned>(i / tile * kLanes + i % kLanes);
  return below(few, surplus, key, random_block(key, block), static_cast<int>(i % tile / kLanes));
}

// One of some given numbers, each equally likely.
struct Chosen {
  using Number = double;
  const double* numbers;
  long count;

  AVIDA_HD AVIDA_INLINE double operator()(const RandomKey& key, long i) const {
    return numbers[random_index(key, count, i)];
  }
};

// Cheng's rejection methods BB and BC (1978), written so that no power over- or underflows, and without the shortcuts
// that would keep them from being vectorised.
struct Beta {
  using Number = double;

  AVIDA_HD Beta(double alpha, double beta) {
    const bool both_above_one = alpha > 1 && beta > 1, rising = alpha < beta;
    const double low = rising ? alpha : beta, high = rising ? beta : alpha;
    swapped = rising != both_above_one;
    a = both_above_one ? low : high;
    b = both_above_one ? high : low;
    sum = a + b;
    scale = both_above_one ? math::sqrt((sum - 2) / (2 * a * b - sum)) : 1 / b;
    slope = both_above_one ? a + 1 / scale : sum;
  }

  AVIDA_HD AVIDA_INLINE double operator()(const RandomKey& key, long i) const {
    PhiloxBlock block = random_block(key, static_cast<unsigned>(i));
    double drawn;
    while (attempt(block, drawn) < 0) block = following_block(key, block);
    return drawn;
  }

  // One attempt. A negative result rejects `out`: another block is needed.
  AVIDA_HD AVIDA_INLINE double attempt(const PhiloxBlock& block, double& out) const {
    constexpr double log4 = 1.3862943611198906;
    double u = open_unit(block.word[0], block.word[1]), w = open_unit(block.word[2], block.word[3]);
    // The result is p / (p + q), where p / q is a / b * exp(v).
    double v = scale * portable::log(u / (1 - u)), above = (math::fabs(v) + v) / 2;
    double p = a * portable::exp_of_minus(above - v), q = b * portable::exp_of_minus(above);
    out = (p * (1 - swapped) + q * swapped) / (p + q);
    double log_ratio = portable::log(sum / (p + q)) - above;  // of sum and b + a * exp(v)
    return slope * v + sum * log_ratio - log4 - portable::log(u * u * w);
  }

 private:
  double a, b, sum, scale, slope;
  double swapped;  // 0 or 1: a number, since a condition would keep the loop from being vectorised
};

}  // namespace avida::ops
