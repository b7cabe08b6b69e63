// From pixels as a codec makes them to pixels as a user wants them: orientation, colours, element type.
#pragma once
#include "codecs/codec.h"

namespace avida::codecs {

// How many channels a user gets from an image with that many.
constexpr int channels_of_type(ImageType type, int stored) {
  return type == ImageType::any ? stored : type == ImageType::gray ? 1 : 3;
}

// Whether pixels of that kind already are what the user wants.
constexpr bool is_of_type(ColorModel color, ImageType type) {
  switch (type) {
    case ImageType::rgb:
      return color == ColorModel::rgb;
    case ImageType::bgr:
      return color == ColorModel::bgr;
    case ImageType::gray:
      return color == ColorModel::gray;
    case ImageType::ycbcr:
      return color == ColorModel::ycbcr;
    case ImageType::any:
      break;
  }
  return color != ColorModel::bgr;
}

// Where the pixels of an upright image lie in a stored one; in bytes.
struct PixelWalk {
  int64_t first, down, right;
};

// What EXIF's numbers 1 to 8 stand for: mirroring, then perhaps an exchange of rows and columns.
class Orientation {
 public:
  Orientation(int exif, int height, int width);  // the extents of the stored image

  // The rectangle of the stored image that a rectangle of the upright one shows.
  Roi stored(const Roi& upright) const;
  // How to go through a stored rectangle to see it upright.
  PixelWalk walk(const Roi& stored, int64_t row_bytes, int64_t pixel_bytes) const;

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

// Writes height x width pixels side by side, in the colours and type that are wanted. Integers use the whole range of
// their type, floats go from 0 to 1.
void convert_pixels(const uint8_t* in, const PixelWalk& walk, const PixelFormat& from, void* out, ImageType type,
                    DType dtype, int height, int width);

}  // namespace avida::codecs
