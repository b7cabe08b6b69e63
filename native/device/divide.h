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

}  // namespace avida
