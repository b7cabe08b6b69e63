// Converts many pixels to the colour space Lab and back on the CPU, with the results of lab.h.
#pragma once
#include <cstdint>

namespace avida::ops {

void rows_to_lab(uint8_t* lightness, uint8_t* a, uint8_t* b, const uint8_t* rgb, int64_t n);
void rows_from_lab(uint8_t* rgb, const uint8_t* lightness, const uint8_t* a, const uint8_t* b, int64_t n);

}  // namespace avida::ops
