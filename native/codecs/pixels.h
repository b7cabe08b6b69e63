// Converts decoded pixels to what was requested: orientation, colour space, element type.
#pragma once
#include "codecs/codec.h"

namespace avida::codecs {

// The number of output channels for an image with `stored` channels.
constexpr int channels_of_type(ImageType type, int stored) {
  if (type == ImageType::any) return stored;
  return type == ImageType::gray || type == ImageType::indices ? 1 : 3;
}

// Whether pixels of this colour already have the requested form.
constexpr bool is_of_type(ColorModel color, ImageType type) {
  switch (type) {
    case ImageType::rgb:
      return color == ColorModel::rgb;
    case ImageType::bgr:
      return color == ColorModel::bgr;
    case ImageType::gray:
    case ImageType::indices:
      return color == ColorModel::gray;
    case ImageType::ycbcr:
      return color == ColorModel::ycbcr;
    case ImageType::any:
      break;
  }
  return color != ColorModel::bgr;
}

// An offset and strides, in bytes.
struct PixelWalk {
  int64_t first, down, right;
};

// EXIF's orientations 1 to 8: mirroring, then optionally a transposition.
class Orientation {
 public:
  Orientation(int exif, int height, int width);  // the extents of the stored image

  // The rectangle of the stored image that corresponds to a rectangle of the upright one.
  Roi stored(const Roi& upright) const;
  // The steps through a stored rectangle that give the upright one.
  PixelWalk walk(const Roi& stored, int64_t row_bytes, int64_t pixel_bytes) const;
  // The steps through the upright rectangle, which is dense, that correspond to the rows and columns of the stored one.
  PixelWalk walk_upright(const Roi& stored, int64_t pixel_bytes) const;

 private:
  int height_, width_;
  bool flip_y_, flip_x_, swap_;
};

struct PixelFormat {
  DType dtype;
  ColorModel color;
  int channels;
  int gray_bits = 0;  // as in ImageInfo
};

// Writes height x width dense pixels in the requested colours and type. Integers use the whole range of their type,
// floats range from 0 to 1; indices are not changed.
void convert_pixels(const uint8_t* in, const PixelWalk& walk, const PixelFormat& from, void* out, ImageType type,
                    DType dtype, int height, int width);

}  // namespace avida::codecs
