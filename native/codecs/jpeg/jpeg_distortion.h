// Encodes an image as JPEG and decodes it again: what an image loses in a JPEG file.
#pragma once
#include <cstdint>

namespace avida::codecs {

struct JpegPixels {
  int height, width, channels;  // 1: gray, 3: RGB
};

// Encodes the pixels, with chroma at half the resolution (4:2:0), and decodes them again.
void distort_by_jpeg(const uint8_t* in, uint8_t* out, const JpegPixels& pixels, int quality);

}  // namespace avida::codecs
