// Images of any format, as a user wants them: upright, in the wanted colours and element type, whole or in part.
#pragma once
#include "codecs/codec.h"

namespace avida::codecs {

struct ImageRequest {
  ImageType type = ImageType::rgb;
  DType dtype = DType::uint8;  // uint8, int8, uint16, int16, uint32, int32 (the whole range) or float32 (0 to 1)
  bool adjust_orientation = true;
  bool fast_idct = false;
  // Where not 0: the image may come smaller at less cost, but not smaller than this.
  int least_height = 0, least_width = 0;
  int least_side = 0;  // the same for the shorter side
};

struct Extents {
  int height, width, channels;
};

// A file whose header has been read. The bytes must outlive it.
class EncodedImage {
 public:
  EncodedImage(Bytes file, const ImageRequest& request);

  // Of the image as it will be decoded.
  Extents extents() const;
  // Writes a rectangle of the decoded image; pixels lie side by side, rows follow one another.
  void decode(const Roi& roi, void* out) const;

 private:
  Bytes file_;
  ImageRequest request_;
  const Codec& codec_;
  ImageInfo info_;  // with the extents that it has when scaled
  DecodeOptions options_;
};

}  // namespace avida::codecs
