// Gray from red, green and blue in 14-bit fixed point, for the codecs that are written by hand: the weights of BT.601.
#pragma once
#include <cstdint>

namespace avida::codecs {

inline uint32_t luma(uint32_t red, uint32_t green, uint32_t blue) {
  return (red * 4899 + green * 9617 + blue * 1868 + 8192) >> 14;
}

}  // namespace avida::codecs
