// Resamples uint8 images in integer arithmetic, with equal results on every instruction set.
//
// Weights have 14 fractional bits and add up to exactly 1. A row is filtered along itself into 16-bit numbers with 6
// fractional bits; the rows that make an output row are then mixed in 32 bits and rounded once.
#pragma once
#include <cstdint>
#include <vector>

#include "loops/resampling/resample_item.h"
#include "loops/resampling/resample_taps.h"

namespace avida {

struct ImageResample;

// Whether resample_bytes() can do it: at most four channels, and not too many taps for the precision of the weights.
bool suits_bytes(const ImageResample& image);
void resample_bytes(const ImageResample& image, const uint8_t* in, uint8_t* out, int64_t begin, int64_t end);

namespace bytes {

constexpr int64_t kReadAhead = 16;  // bytes that may be read after the end of a row
constexpr int64_t kMostTaps = 512;  // with more, the rounding of the weights could be seen

struct alignas(64) Line {  // of the cache
  int16_t weights[32];
};

struct Taps {
  int64_t count = 1;
  std::vector<int32_t> first;
  std::vector<int16_t> weights;  // as in ResampleTaps
  // For vector registers, see resample_packed.h; empty where that does not apply.
  std::vector<Line> packed;
  std::vector<int32_t> offsets;
  std::vector<uint8_t> masks;
  bool windows = false;  // how they are packed: see resample_vectors.cpp

  const int16_t* weights_of(int64_t i) const { return weights.data() + i * count; }
};

// How many numbers a filtered row has for each pixel, where pixels of three channels are kept apart by a fourth one.
constexpr int lanes_of(int64_t channels) { return channels == 3 ? 4 : static_cast<int>(channels); }

// What differs between instruction sets.
struct Kernels {
  int (*lanes)(
      int64_t channels);  // of a pixel in a filtered row; 64 numbers after the end of a row may be read or written
  void (*pack)(Taps& taps, int64_t channels);
  void (*filter_row)(int16_t* out, const uint8_t* in, const Taps& taps, int64_t channels);
  // n pixels of `channels` bytes from rows of lanes(channels) numbers per pixel.
  void (*mix_rows)(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int64_t count, int64_t n,
                   int64_t channels);
};

const Kernels& kernels();  // of the instruction set in use

// As filter_row, for taps that were not packed.
void filter_plainly(int16_t* out, const uint8_t* in, const Taps& taps, int64_t channels);

}  // namespace bytes
}  // namespace avida
