// Converts decoded pictures to RGB of 16 bits or floats, and those of high dynamic range to sRGB.
#pragma once
#include "codecs/video/planes.h"
#include "core/dtype.h"

namespace avida::codecs {

struct WideRequest {
  DType dtype = DType::float32;  // uint8 or uint16 with their whole range, or float32 from 0 to 1
  // PQ and HLG to sRGB, and colours of BT.2020 to those of BT.709. Other pictures stay as they are.
  bool tone_map = false;
};

// Writes height x width x 3 dense elements of RGB. chroma_step is 1.
void interleave_wide(const PicturePlanes& picture, const WideRequest& request, void* out);

}  // namespace avida::codecs
