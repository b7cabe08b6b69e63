// Division of indices.
#pragma once
#include "kernel/macros.h"

namespace avida {

// Most indices fit 32 bits, in which GPUs divide several times as fast.
AVIDA_HD AVIDA_INLINE long quotient(long a, long b) {
  if ((a | b) >> 32 == 0) return static_cast<unsigned>(a) / static_cast<unsigned>(b);
  return a / b;
}

}  // namespace avida
