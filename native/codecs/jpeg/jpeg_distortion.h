// What an image loses in a JPEG file.
#pragma once
#include <cstdint>

namespace avida::codecs {

struct JpegPixels {
  int height, width, channels;  // 1: gray, 3: RGB
};

// Encodes the pixels, with colours at half the resolution, and decodes them again.
void distort_by_jpeg(const uint8_t* in, uint8_t* out, const JpegPixels& pixels, int quality);

}  // namespace avida::codecs
