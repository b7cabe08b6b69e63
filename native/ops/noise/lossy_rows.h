// Rows of pixels and of blocks of jpeg_compression_distortion on the CPU, with the bits of libjpeg-turbo.
#pragma once
#include <cstdint>

namespace avida::ops {

// Division by the steps of quantization, and multiplication by them again. DCT results are scaled by 8. A division is a
// multiplication by `inverse` and another by `scale`, of which the upper 16 bits are kept: exact below 1 << 15.
struct LossyFactors {
  struct alignas(16) Table {
    uint16_t at[64];
  };
  Table half, inverse, scale, step;

  void set(int k, unsigned quantum);
};

// All rows of samples have room for a multiple of 64 samples.

// The samples of two rows of pixels, centred on 0.
struct LossyRows {
  int16_t *upper, *lower;  // of luma
  int16_t *cb, *cr;
};

// Two rows of RGB pixels. Beyond the right edge the last pixel is repeated, to the end of a block.
void split_colors(const uint8_t* upper, const uint8_t* lower, int width, const LossyRows& out);

// A row of gray pixels, in the same way.
void split_gray(const uint8_t* in, int width, int16_t* out);

// What remains of a row of blocks. The strides are those of rows of samples.
void lose_detail(const int16_t* in, int64_t in_stride, int width, const LossyFactors& factors, uint8_t* out,
                 int64_t stride);

}  // namespace avida::ops
