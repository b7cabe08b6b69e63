// A JPEG image as it is stored: planes of brightness and colour, not yet brought to one size and turned into RGB.
#pragma once
#include "codecs/jpeg_header.h"

namespace avida::codecs {

struct JpegPlanes {
  struct Plane {
    int width, height;  // of what belongs to the image; memory has place for `stride` times `rows` bytes
    int64_t stride, rows;
    int64_t bytes() const { return stride * rows; }
  };
  Plane plane[3];  // Y, Cb, Cr

  int64_t bytes() const { return plane[0].bytes() + plane[1].bytes() + plane[2].bytes(); }
};

JpegPlanes jpeg_planes(const JpegHeader& header, const JpegSampling& sampling);

// Writes the planes, one after the other. Throws Error as decoding does.
void read_jpeg_planes(Bytes file, const JpegPlanes& planes, bool fast_idct, uint8_t* out);

}  // namespace avida::codecs
