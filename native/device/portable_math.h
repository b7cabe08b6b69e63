// Functions with bit-identical results on every machine, unlike those of C libraries and GPUs: plain additions,
// multiplications and divisions, accurate to two units in the last place. They vectorise. Read by NVRTC too: no std
// headers.
#pragma once
#include "device/convert.h"

namespace avida::portable {

// The sum of coefficients[i] * x^i.
template <int I = 0, int N, class Real>
AVIDA_HD AVIDA_INLINE Real polynomial(const double (&coefficients)[N], Real x) {
  if constexpr (I == N - 1)
    return static_cast<Real>(coefficients[I]);
  else
    return polynomial<I + 1>(coefficients, x) * x + static_cast<Real>(coefficients[I]);
}

// The natural logarithm of a positive number that is not subnormal.
template <class Real>
AVIDA_HD AVIDA_INLINE Real log(Real x) {
  using Format = FloatBits<Real>;
  using Bits = typename Format::type;
  // x = m * 2^exponent, with m between the square roots of 1/2 and of 2.
  constexpr Bits sqrt_half = __builtin_bit_cast(Bits, static_cast<Real>(0.70710678118654752));
  Bits bits = __builtin_bit_cast(Bits, x);
  Bits exponent = (bits - sqrt_half) >> Format::mantissa_bits;
  Real m = __builtin_bit_cast(Real, bits - (exponent << Format::mantissa_bits));
  Real e = static_cast<Real>(static_cast<int>(exponent));
  // log(m) = 2 atanh(s)
  Real s = (m - 1) / (m + 1), z = s * s, series;
  if constexpr (sizeof(Real) == 4) {
    constexpr double c[] = {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9};
    series = polynomial(c, z);
  } else {
    constexpr double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                            2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
    series = polynomial(c, z);
  }
  // The logarithm of 2 in two parts, of which e times the first is exact.
  constexpr Real high = sizeof(Real) == 4 ? Real(0x1.62ep-1) : Real(0x1.62e42feep-1);
  constexpr Real low = sizeof(Real) == 4 ? Real(0x1.0bfbe8p-15) : Real(0x1.a39ef35793c76p-33);
  return e * high + (2 * s + (s * z * series + e * low));
}

// e to the power of -x, for x >= 0; of -708 for any greater x, so that the result is never subnormal.
AVIDA_HD AVIDA_INLINE double exp_of_minus(double x) {
  // Compares as integers, which compilers do without a branch.
  constexpr long limit = __builtin_bit_cast(long, 708.0);
  long bits = __builtin_bit_cast(long, x);
  x = __builtin_bit_cast(double, bits < limit ? bits : limit);
  int k = static_cast<int>(x * 1.4426950408889634 + 0.5);
  double r = (k * 0x1.62e42feep-1 - x) + k * 0x1.a39ef35793c76p-33;
  constexpr double c[] = {
      1,         1,          1 / 2.,      1 / 6.,       1 / 24.,       1 / 120.,       1 / 720.,
      1 / 5040., 1 / 40320., 1 / 362880., 1 / 3628800., 1 / 39916800., 1 / 479001600., 1 / 6227020800.};
  return polynomial(c, r) * __builtin_bit_cast(double, static_cast<long>(1023 - k) << 52);
}

// Sine and cosine of an angle of at most an eighth of a circle in either direction, in radians.
template <class Real>
AVIDA_HD AVIDA_INLINE Real sin_of_small(Real x) {
  constexpr double c[] = {-1 / 6.,        1 / 120.,        -1 / 5040.,         1 / 362880.,
                          -1 / 39916800., 1 / 6227020800., -1 / 1307674368000.};
  Real z = x * x;
  if constexpr (sizeof(Real) == 4) {
    constexpr double few[] = {c[0], c[1], c[2], c[3]};
    return x + x * z * polynomial(few, z);
  } else {
    return x + x * z * polynomial(c, z);
  }
}
template <class Real>
AVIDA_HD AVIDA_INLINE Real cos_of_small(Real x) {
  constexpr double c[] = {-1 / 2.,       1 / 24.,        -1 / 720.,         1 / 40320.,
                          -1 / 3628800., 1 / 479001600., -1 / 87178291200., 1 / 20922789888000.};
  Real z = x * x;
  if constexpr (sizeof(Real) == 4) {
    constexpr double few[] = {c[0], c[1], c[2], c[3]};
    return 1 + z * polynomial(few, z);
  } else {
    return 1 + z * polynomial(c, z);
  }
}

}  // namespace avida::portable
