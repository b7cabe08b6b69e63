// The coefficients of a JPEG image, for those who compute its pixels elsewhere.
#pragma once
#include "codecs/jpeg_header.h"

namespace avida::codecs {

constexpr int kJpegBlock = 64;  // coefficients of 8x8 samples, row by row

// An image as it is stored: planes of brightness and colour, not yet brought to one size and turned into RGB.
struct JpegPlanes {
  struct Plane {
    int width,
        height;  // of what belongs to the image; memory has place for `stride` times `rows` samples: whole blocks
    int64_t stride, rows;
    int64_t samples() const { return stride * rows; }
  };
  Plane plane[3];  // Y, Cb, Cr

  int64_t samples() const { return plane[0].samples() + plane[1].samples() + plane[2].samples(); }
};
JpegPlanes jpeg_planes(const JpegHeader& header, const JpegSampling& sampling);

// Whether the headers are complete and without anything unusual: a baseline file of Y, Cb and Cr in one scan, of the
// size of the planes.
bool is_plain_jpeg(Bytes file, const JpegPlanes& planes);

// Reads the coefficients of a baseline file of Y, Cb and Cr in one scan: as many as there are samples, the blocks of
// each plane row by row, plane after plane, multiplied by their quantization. False for a file that is in any way
// unusual, or broken: a library has to look at it.
bool read_jpeg_coefficients(Bytes file, const JpegPlanes& planes, int16_t* out);

}  // namespace avida::codecs
