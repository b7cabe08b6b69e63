// Parses the header of a JPEG file, of any process, without a library.
#pragma once
#include "codecs/codec.h"

namespace avida::codecs {

struct JpegHeader {
  int frame = 0;  // the second byte of the frame's marker: 0xC0 baseline, 0xC2 progressive, 0xC3 lossless ...
  int precision = 0, height = 0, width = 0, components = 0;
  int orientation = 1;
  int scan_components = 0;  // of the first scan; 0 where the file ends before it
};

constexpr int kProgressiveFrame = 0xC2, kLosslessFrame = 0xC3;

bool is_jpeg(Bytes file);
// The kind of the frame, or 0 if none is found.
int jpeg_frame(Bytes file);
JpegHeader read_jpeg_header(Bytes file);

// The number of scans, counted by their markers up to the end of the file.
int64_t count_jpeg_scans(Bytes file, const JpegHeader& header);

}  // namespace avida::codecs
