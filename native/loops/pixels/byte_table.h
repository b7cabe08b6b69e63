// Looks bytes up in a table of 256 bytes.
#pragma once
#include <cstdint>

namespace avida {

void look_up_bytes(uint8_t* out, const uint8_t* in, int64_t n, const uint8_t* table);

// Whether that takes less time than a few additions and multiplications of floats.
bool looks_up_fast();

}  // namespace avida
