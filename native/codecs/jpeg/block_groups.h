// How the coefficients of neighbouring blocks lie in memory.
#pragma once

namespace avida::codecs {

// Blocks lie in groups of four neighbours whose rows are interleaved, so that vectors of any length load whole.
constexpr int kGroup = 4, kGroupSize = 64 * kGroup;

}  // namespace avida::codecs
