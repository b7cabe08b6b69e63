// Picks the three colours of pixels of bytes, in their order or from the last to the first.
#pragma once
#include <cstdint>

namespace avida::codecs {

// `stored`: the bytes of a pixel in `from`, 3 or 4, of which the first three are the colours.
void pick_colors(const uint8_t* from, int stored, bool reversed, uint8_t* to, int64_t pixels);

}  // namespace avida::codecs
