// JPEG files whose pixels are computed elsewhere: what a GPU needs for that.
#pragma once
#include <optional>

#include "codecs/jpeg_header.h"
#include "kernel/jpeg_scan.h"

namespace avida::codecs {

// A baseline file of Y, Cb and Cr in one scan whose headers are complete and without anything unusual.
struct PlainJpeg {
  // An image as it is stored: planes of brightness and colour, not yet brought to one size and turned into RGB.
  struct Plane {
    int width, height;  // of what belongs to the image; `stride` times `rows` samples are whole blocks
    int64_t stride, rows;
    int64_t samples() const { return stride * rows; }
  };
  Plane plane[3];
  int columns, rows;  // how many times fewer of them the colours have
  JpegScan scan;
  int groups;    // of blocks
  int interval;  // groups between two restarts; 0: there are none
  Bytes data;    // from the scan on

  int64_t samples() const { return plane[0].samples() + plane[1].samples() + plane[2].samples(); }
  int intervals() const { return interval ? (groups + interval - 1) / interval : 1; }
  // Memory for the bytes of the scan as JpegReader reads them.
  size_t room() const;
  // Copies them there, and tells where the bits of each interval are. False: the scan is broken.
  bool copy_bytes(uint8_t* to, JpegBits* bits) const;
};

// Nothing for a file that is in any way unusual, or broken: a library has to look at it.
std::optional<PlainJpeg> read_plain_jpeg(Bytes file);

}  // namespace avida::codecs
