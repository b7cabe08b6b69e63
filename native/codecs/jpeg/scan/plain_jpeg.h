// Reads what a GPU needs to decode a JPEG file: the header, and the data of the scan of a baseline file.
#pragma once
#include <optional>
#include <vector>

#include "codecs/jpeg/jpeg_header.h"
#include "codecs/jpeg/scan/device_scan.h"

namespace avida::codecs {

// The bits of an MCU without coefficients: images of one colour consist of them.
struct EmptyMcu {
  uint8_t bits[32 * JpegScan::kMostBlocks];
  int count = 0;  // 0: the tables have no codes for it
};

// A file of Y, or of Y, Cb and Cr, whose headers are complete and without anything unusual: baseline with one scan, or
// progressive.
struct PlainJpeg {
  // A plane of samples as it is stored, before upsampling.
  struct Plane {
    int width, height;  // of the image; `stride` times `rows` samples are whole blocks
    int64_t stride, rows;
    int64_t samples() const { return stride * rows; }
  };
  Plane plane[3];
  int planes;         // 1 or 3
  int columns, rows;  // the subsampling of chroma, 1 or 2
  bool progressive;   // then a thread reads the coefficients, and what follows is not set but for the factors
  JpegScan scan;
  EmptyMcu empty;
  int mcus;
  int interval;  // MCUs between two restarts; 0: there are none
  Bytes data;    // from the scan on

  int64_t samples() const;
  int blocks() const { return mcus * scan.blocks; }
  int intervals() const { return interval ? (mcus + interval - 1) / interval : 1; }

  // The data, or the coefficients of a progressive file, are copied in chunks, which threads may do at the same time.
  // The first one that does not go on is the last of the scan: it has to end with the marker of the image's end.
  static constexpr int kGoesOn = 0, kEndOfImage = 0xD9, kBroken = -1;
  struct Chunk {
    std::vector<JpegSegment> segments;
    int marker = kGoesOn;  // or the second byte of the marker that ends it
  };
  int chunks() const;
  size_t room(int chunk) const;
  // Copies a chunk without stuffed zeros. The segments know their bytes there, their interval and its blocks.
  Chunk copy(int chunk, uint8_t* to) const;
};

// Returns nothing for a JPEG file that is in any way unusual or broken: a thread of the CPU has to decode it.
std::optional<PlainJpeg> plain_jpeg(const JpegHeader& header);

}  // namespace avida::codecs
