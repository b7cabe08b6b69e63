// Counters that the threads of a block share.
#pragma once
#include "device/macros.h"

namespace avida {

// Adds one to a number that other threads of the phase add to. None of them may read it.
AVIDA_HD AVIDA_INLINE void count_one(int& number) {
#ifdef __CUDA_ARCH__
  atomicAdd(&number, 1);
#else
  number++;
#endif
}

}  // namespace avida
