// Reads what a GPU needs to decode a baseline JPEG file: the header, and the bytes of the scan.
#pragma once
#include <optional>

#include "codecs/codec.h"
#include "loops/decoding/jpeg_scan.h"

namespace avida::codecs {

// A baseline file of Y, Cb and Cr in one scan whose headers are complete and without anything unusual.
struct PlainJpeg {
  // A plane of samples as it is stored, before upsampling.
  struct Plane {
    int width, height;  // of the image; `stride` times `rows` samples are whole blocks
    int64_t stride, rows;
    int64_t samples() const { return stride * rows; }
  };
  Plane plane[3];
  int columns, rows;  // the subsampling of chroma, 1 or 2
  JpegScan scan;
  int groups;    // MCUs
  int interval;  // groups between two restarts; 0: there are none
  Bytes data;    // from the scan on

  int64_t samples() const { return plane[0].samples() + plane[1].samples() + plane[2].samples(); }
  int intervals() const { return interval ? (groups + interval - 1) / interval : 1; }
  // Memory for the bytes of the scan as JpegReader reads them.
  size_t room() const;
  // Copies them there without stuffed zeros, and sets the bits of each interval. Returns false for a broken scan.
  bool copy_bytes(uint8_t* to, JpegBits* bits) const;
};

// Returns nothing for a JPEG file that is in any way unusual or broken: libjpeg-turbo has to decode it.
std::optional<PlainJpeg> read_plain_jpeg(Bytes file);

}  // namespace avida::codecs
