// Reads the scans of a progressive JPEG file: the coefficients of the whole image, bit by bit.
#pragma once
#include <span>

#include "codecs/jpeg/jpeg_header.h"
#include "codecs/jpeg/scan/scan_vectors.h"
#include "runtime/memory.h"

namespace avida::codecs {

struct ProgressiveScans {
  CoefficientPlane plane[3];
  Block memory;

  // `header`: of an ordinary progressive file. Returns false if what follows is in any way unusual or broken, or lacks
  // bits of any coefficient: libjpeg-turbo has to decode it. `zigzag`: memory for exactly the coefficients of all
  // planes, one after the other, with whole MCUs and in the order of files; otherwise they are in memory of their own,
  // as in BlockRow.
  bool read(const JpegHeader& header, std::span<int16_t> zigzag = {});
};

}  // namespace avida::codecs
