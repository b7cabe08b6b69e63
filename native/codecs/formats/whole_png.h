// Decodes the ordinary PNG files as a whole, faster than libpng.
#pragma once
#include "codecs/codec.h"

namespace avida::codecs {

// Writes the rectangle, in these colours, as ImageFile::decode does. Returns false where libpng is to decode the file
// instead, or to say what is wrong with it: what was written is undefined then.
using DecodeWholePng = bool(Bytes file, const ImageInfo& info, ImageType type, ColorModel color, const Roi& roi,
                            const PixelRows& out);

// Null in a build without libdeflate.
inline DecodeWholePng* decode_whole_png = nullptr;

// The bytes of all rows of a file with these extents, each with its filter.
constexpr int64_t png_bytes(int64_t height, int64_t width, int bits) { return height * (1 + (width * bits + 7) / 8); }
// Larger ones are left to libpng, which needs memory for a row only.
constexpr int64_t kMostWholePng = int64_t{256} << 20;

}  // namespace avida::codecs
