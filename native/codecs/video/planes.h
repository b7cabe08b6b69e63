// Converts decoded pictures, planar YUV or RGB of 8 to 16 bits, to interleaved RGB or YCbCr of 8 bits.
#pragma once
#include <cstdint>
#include <functional>

#include "codecs/codec.h"
#include "codecs/video/plane_mix.h"

namespace avida::codecs {

enum class ColorMatrix { bt601, bt709, bt2020 };
enum class Transfer { sdr, pq, hlg };

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
  bool repeats_chroma = false;  // a sample stands for all pixels that it covers; otherwise they are interpolated
  Transfer transfer = Transfer::sdr;
  bool is_bt2020 = false;  // its primaries
};

// The planes to RGB of 8-bit codes: `by` times planes, and the offset.
struct ToRgb {
  double by[3][3], offset[3];
};
ToRgb to_rgb(const PicturePlanes& picture);

// Calls use(y, rows) for each row, with the three planes at full resolution in 256ths of 8-bit codes.
using UsePlaneRow = std::function<void(int y, const uint16_t* first, const uint16_t* second, const uint16_t* third)>;
void each_plane_row(const PicturePlanes& picture, const UsePlaneRow& use);

// How the planes are mixed to the channels of `type`: rgb or ycbcr.
PlaneMix mix_of(const PicturePlanes& picture, ImageType type);

// Writes height x width x 3 dense bytes; chroma_step is 1. `type` is rgb, or ycbcr: BT.601 codes of 16 to 235 and 240,
// as those of images. Chroma is interpolated linearly; its samples are centred among the luma samples that they cover.
void interleave_planes(const PicturePlanes& picture, ImageType type, uint8_t* out);

}  // namespace avida::codecs
