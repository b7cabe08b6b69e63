// Division of numbers that are not negative. A GPU divides 32 bits several times as fast as 64.
#pragma once
#include "kernel/macros.h"

namespace avida {

struct Divided {
  long whole, rest;
};

AVIDA_HD AVIDA_INLINE Divided divided(long i, long n) {
  if ((i | n) >> 32 != 0) return {i / n, i % n};
  const unsigned small = static_cast<unsigned>(i), by = static_cast<unsigned>(n), whole = small / by;
  return {whole, small - whole * by};
}

}  // namespace avida
