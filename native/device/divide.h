// Division of non-negative integers. A GPU divides 32 bits several times as fast as 64.
#pragma once
#include "device/macros.h"

namespace avida {

struct Divided {
  long whole, rest;
};

AVIDA_HD AVIDA_INLINE Divided divided(long i, long n) {
  if ((i | n) >> 32 != 0) return {i / n, i % n};
  const unsigned small = static_cast<unsigned>(i), by = static_cast<unsigned>(n), whole = small / by;
  return {whole, small - whole * by};
}

// x / d for x below 2^32 / d, where `inverse` is inverse_of(d).
AVIDA_HD constexpr unsigned inverse_of(unsigned d) { return d == 1 ? 0 : (0xffffffffu - (d - 1)) / d + 2; }
AVIDA_HD AVIDA_INLINE unsigned divided_by_inverse(unsigned x, unsigned inverse) {
  return inverse == 0 ? x : static_cast<unsigned>(static_cast<unsigned long>(x) * inverse >> 32);
}

// Division of many numbers below 2^32 by the same one, without a division: a GPU's takes about twenty instructions.
struct Divisor {
  unsigned by;
  unsigned long inverse;  // 2^64 / by, rounded up; 0 for 1

  AVIDA_HD static constexpr Divisor of(long by) {
    if (by >> 32 != 0) return {0xffffffffu, 1};  // 0 is the quotient of all
    return {static_cast<unsigned>(by), by <= 1 ? 0 : 0xffffffffffffffffu / static_cast<unsigned long>(by) + 1};
  }
  AVIDA_HD AVIDA_INLINE unsigned operator()(unsigned x) const {
    if (inverse == 0) return x;
#ifdef __CUDA_ARCH__
    return static_cast<unsigned>(__umul64hi(inverse, x));
#else
    return static_cast<unsigned>(static_cast<unsigned __int128>(inverse) * x >> 64);
#endif
  }
  // The remainder, of which `whole` is the quotient.
  AVIDA_HD AVIDA_INLINE unsigned rest(unsigned x, unsigned whole) const { return x - whole * by; }
};

}  // namespace avida
