// Decompresses a tile of a FITS image.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/dtype.h"
#include "readers/fits/fits_bytes.h"

namespace avida {

using ByteSpan = std::span<const unsigned char>;
constexpr int64_t kBytesBeyond =
    16;  // bytes that must be readable after the compressed data; their values do not matter

struct RiceParameters {
  int64_t block = 32;  // pixels
  int64_t pixel_bytes = 4;
};

// Quantized floats: divided, dithered and rounded to integers.
struct Quantization {
  enum class Dither { none, subtractive, subtractive_but_zeros };
  double scale = 1;
  double zero = 0;
  std::optional<int64_t> blank;  // the integer that represents NaN
  Dither dither = Dither::none;
  int64_t seed = 0;  // of this tile, counted from 0
};

// Decompresses tile after tile, into memory that is reused for the next. All functions throw if the compressed data
// does not have `n` pixels.
class TileUnpacker {
 public:
  const void* pixels() const { return pixels_.data(); }  // of the last tile, in native byte order

  // Each returns the type of the pixels: `stored`, or any integer type if `stored` is one.
  DType gzip(ByteSpan packed, int64_t n, DType stored, bool shuffled);
  DType rice(ByteSpan packed, int64_t n, const RiceParameters& parameters);
  DType raw(ByteSpan bytes, int64_t n, DType stored);
  // Converts the pixels, which are integers, to floats of this type.
  DType unquantize(DType stored, int64_t n, const Quantization& quantization, DType floats);

 private:
  std::optional<Inflater> inflater_;
  std::vector<unsigned char> pixels_, other_;
};

}  // namespace avida
