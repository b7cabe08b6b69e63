// Medians of 3 x 3 bytes, a row at a time, in registers.
#pragma once
#include <cstdint>

namespace avida::ops {

// Of n bytes in each of three rows; neighbours are a step apart, and beyond the ends the outermost ones are repeated.
// Nothing is done, and false returned, if there are too few of them or this machine cannot permute vectors of bytes.
bool median_row(uint8_t* out, const uint8_t* top, const uint8_t* centre, const uint8_t* bottom, int64_t step,
                int64_t n);

}  // namespace avida::ops
