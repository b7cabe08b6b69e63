// Gray of interleaved pixels of bytes, in integers.
#pragma once
#include <cstdint>

namespace avida::ops {

// How much red, green and blue weigh, of 2^15. Sums of such short numbers are exact in floats too, so
// that they give the same bytes.
constexpr int kGrayBits = 15, kGrayWeights[] = {9798, 19235, 3735};

void gray_of_rgb(uint8_t* out, const uint8_t* in, int64_t pixels);
void gray_of_bgr(uint8_t* out, const uint8_t* in, int64_t pixels);

}  // namespace avida::ops
