// Whether the processor has the byte permutations of AVX-512 VBMI.
// They deinterleave and interleave pixels of three bytes at the speed of memory.
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#define AVIDA_VBMI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")))
#endif

namespace avida {

// Whether this machine has them. AVIDA_VBMI=off in the environment says no, for tests that compare.
bool has_vbmi();

}  // namespace avida
