// Converts decoded pictures, planar YUV or RGB of 8 to 16 bits, to interleaved RGB or YCbCr of 8 bits.
#pragma once
#include <cstdint>

#include "codecs/codec.h"
#include "codecs/video/plane_mix.h"

namespace avida::codecs {

enum class ColorMatrix { bt601, bt709, bt2020 };

// Planes of bytes, or of native 16-bit words where `bits` is above 8.
struct PicturePlanes {
  const uint8_t* planes[3];  // Y, Cb, Cr; of RGB: G, B, R. Without chroma only the first
  int64_t strides[3];        // in bytes
  int height, width;
  int chroma_height, chroma_width;  // 0 for gray
  int chroma_step = 1;              // the distance of neighbouring chroma samples: 2 where Cb and Cr take turns
  int bits;
  bool full_range;  // 0 to 255, not 16 to 235 and 240
  bool is_rgb;
  ColorMatrix matrix;
};

// How the planes are mixed to the channels of `type`: rgb or ycbcr.
PlaneMix mix_of(const PicturePlanes& picture, ImageType type);

// Writes height x width x 3 dense bytes; chroma_step is 1. `type` is rgb, or ycbcr: BT.601 codes of 16 to 235 and 240,
// as those of images. Chroma is interpolated linearly; its samples are centred among the luma samples that they cover.
void interleave_planes(const PicturePlanes& picture, ImageType type, uint8_t* out);

}  // namespace avida::codecs
