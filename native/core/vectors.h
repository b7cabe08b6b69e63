// Which instruction set the vector code (Google Highway) uses.
// A file of vector code is compiled for each of them, and a call chooses among them at run time. It includes this
// before Highway.
#pragma once
#define HWY_WANT_AVX3_DL        // AVX-512 with VBMI
#define HWY_DISABLE_PCLMUL_AES  // SSE4 is what every x86-64-v2 machine has
// Vectors whose length compilers do not know cannot be members or elements of arrays; such machines also have NEON.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | AVIDA_OTHER_VECTORS)
#include <string_view>
#include <vector>

#include "machine.h"

namespace avida {

// Those of this machine, the best one first.
std::vector<std::string_view> vector_targets();

// For tests, while nothing runs: nothing better than this one of vector_targets() is used from now on.
void use_vectors(std::string_view target);

}  // namespace avida
