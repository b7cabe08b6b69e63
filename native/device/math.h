// The C math functions, on the host and under NVRTC (which has them built in).
#pragma once
#ifndef __CUDACC_RTC__
#include <math.h>
#endif
#include "device/macros.h"

namespace avida::math {

// name(float) and name(double), each calling the C function of that precision.
#define AVIDA_MATH_1(NAME)                                           \
  AVIDA_HD AVIDA_INLINE float NAME(float x) { return ::NAME##f(x); } \
  AVIDA_HD AVIDA_INLINE double NAME(double x) { return ::NAME(x); }
#define AVIDA_MATH_2(NAME)                                                       \
  AVIDA_HD AVIDA_INLINE float NAME(float x, float y) { return ::NAME##f(x, y); } \
  AVIDA_HD AVIDA_INLINE double NAME(double x, double y) { return ::NAME(x, y); }
AVIDA_MATH_1(acos)
AVIDA_MATH_1(acosh)
AVIDA_MATH_1(asin)
AVIDA_MATH_1(asinh)
AVIDA_MATH_1(atan)
AVIDA_MATH_1(atanh)
AVIDA_MATH_1(cbrt)
AVIDA_MATH_1(ceil)
AVIDA_MATH_1(cos)
AVIDA_MATH_1(cosh)
AVIDA_MATH_1(exp)
AVIDA_MATH_1(fabs)
AVIDA_MATH_1(floor)
AVIDA_MATH_1(log)
AVIDA_MATH_1(log10)
AVIDA_MATH_1(log2)
AVIDA_MATH_1(sin)
AVIDA_MATH_1(sinh)
AVIDA_MATH_1(sqrt)
AVIDA_MATH_1(tan)
AVIDA_MATH_1(tanh)
AVIDA_MATH_2(atan2)
AVIDA_MATH_2(fmod)
AVIDA_MATH_2(pow)
#undef AVIDA_MATH_1
#undef AVIDA_MATH_2

}  // namespace avida::math
