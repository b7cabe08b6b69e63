// Reads the scans of a progressive JPEG file: the coefficients of the whole image, bit by bit.
#pragma once
#include <span>

#include "codecs/jpeg/jpeg_vectors.h"
#include "codecs/jpeg/sequential_header.h"
#include "runtime/memory.h"

namespace avida::codecs {

struct ProgressiveScans {
  SequentialHeader header;
  CoefficientPlane plane[3];
  Block memory;

  // Returns false for a file that is in any way unusual or broken, lacks bits of any coefficient, or is not the image
  // of `info`: libjpeg-turbo has to decode it. `zigzag`: memory for exactly the coefficients of all planes, one after
  // the other, with whole MCUs and in the order of files; otherwise they are in memory of their own, as in BlockRow.
  bool read(Bytes file, const ImageInfo& info, std::span<int16_t> zigzag = {});
};

}  // namespace avida::codecs
