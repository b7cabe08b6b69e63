// Interleaves three planes into pixels of three channels.
#pragma once
#include <cstdint>

namespace avida {

void interleave(uint8_t* out, const uint8_t* first, const uint8_t* second, const uint8_t* third, int64_t n);
void interleave(uint16_t* out, const uint16_t* first, const uint16_t* second, const uint16_t* third, int64_t n);

}  // namespace avida
