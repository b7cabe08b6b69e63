// What a JPEG file says of itself before its pixels; read without a library, for all kinds of JPEG.
#pragma once
#include <optional>

#include "codecs/codec.h"

namespace avida::codecs {

struct JpegHeader {
  int frame = 0;  // the second byte of the frame's marker: 0xC0 baseline, 0xC2 progressive, 0xC3 lossless ...
  int precision = 0, height = 0, width = 0, components = 0;
  int orientation = 1;
};

constexpr int kLosslessFrame = 0xC3;

bool is_jpeg(Bytes file);
// The kind of the frame, 0 where none is found.
int jpeg_frame(Bytes file);
JpegHeader read_jpeg_header(Bytes file);

// How an image of Y, Cb and Cr is stored.
struct JpegSampling {
  int columns = 0, rows = 0;  // how many times fewer of them the colours have
  bool one_scan = false;      // all three together, in one pass
};
// Nothing for other images.
std::optional<JpegSampling> jpeg_sampling(Bytes file);

}  // namespace avida::codecs
