// Reads the scans of a progressive JPEG file: the coefficients of the whole image, bit by bit.
#pragma once
#include "codecs/jpeg/jpeg_vectors.h"
#include "codecs/jpeg/sequential_header.h"
#include "runtime/memory.h"

namespace avida::codecs {

// The coefficients of a component.
struct CoefficientPlane {
  int columns, rows;      // of blocks, with those that fill up MCUs, and columns with those that fill up groups
  int16_t* coefficients;  // row by row, as in BlockRow
  uint8_t* last;          // of each block: the index of its last coefficient, in zigzag order
  uint64_t* present;      // of each block: a bit for each AC coefficient that is not zero, in zigzag order

  int64_t blocks() const { return int64_t{columns} * rows; }
};

struct ProgressiveScans {
  SequentialHeader header;
  CoefficientPlane plane[3];
  Block memory;

  // Returns false for a file that is in any way unusual or broken, lacks bits of any coefficient, or is not the image
  // of `info`: libjpeg-turbo has to decode it.
  bool read(Bytes file, const ImageInfo& info);
};

}  // namespace avida::codecs
