// The compressions of a tile of a FITS image.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/dtype.h"
#include "readers/fits_bytes.h"

namespace avida {

using ByteSpan = std::span<const unsigned char>;
constexpr int64_t kBytesBeyond = 16;  // must be readable after those that are unpacked; they do not matter

struct RiceParameters {
  int64_t block = 32;  // pixels
  int64_t pixel_bytes = 4;
};

// Floats were divided and rounded to integers, after a random fraction was added.
struct Quantization {
  enum class Dither { none, subtractive, subtractive_but_zeros };
  double scale = 1;
  double zero = 0;
  std::optional<int64_t> blank;  // the integer for "not a number"
  Dither dither = Dither::none;
  int64_t seed = 0;  // of this tile, counted from 0
};

// Unpacks tile after tile, into memory that is used again for the next. Everything throws where the packed data are not
// those of `n` pixels.
class TileUnpacker {
 public:
  const void* pixels() const { return pixels_.data(); }  // of the last tile, in the byte order of this machine

  // Each returns the type of the pixels: `stored`, or any integers where that is an integer.
  DType gzip(ByteSpan packed, int64_t n, DType stored, bool shuffled);
  DType rice(ByteSpan packed, int64_t n, const RiceParameters& parameters);
  DType raw(ByteSpan bytes, int64_t n, DType stored);
  // The pixels, which are integers, become floats of this type.
  DType unquantize(DType stored, int64_t n, const Quantization& quantization, DType floats);

 private:
  std::optional<Inflater> inflater_;
  std::vector<unsigned char> pixels_, other_;
};

}  // namespace avida
