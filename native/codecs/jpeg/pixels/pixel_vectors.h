// The loops that make pixels from coefficients, compiled for several instruction sets: IDCT, upsampling, colours.
#pragma once
#include <cstdint>

namespace avida::codecs {

// A row of blocks of one component.
struct BlockRow {
  int16_t* coefficients;  // become zero again, but for the first of each block
  const uint8_t* last;
  const int16_t* factors;  // of quantization, row by row
  int groups;
  uint8_t* out;
  int64_t stride;
};

// The IDCT. Returns false where libjpeg-turbo's arithmetic would overflow in a way of its own.
bool make_samples(const BlockRow& row);

// A row of pixels. All pointers are to column 0 of the image.
struct PixelRow {
  uint8_t* out;  // of the first pixel
  int x, width;  // the first pixel and the number of pixels
  const uint8_t* luma;
  const uint8_t* near[2];  // the row of Cb and Cr that the pixels lie in; null: gray
  const uint8_t* far[2];   // the next one above or below
  int columns, rows;       // the subsampling of chroma, 1 or 2
  bool lower;              // the pixels lie in the lower half of the row of chroma
  bool blue_first;
};

// Upsampling and colour conversion. Reads up to kPixelMargin samples after the last one, and one before the first.
void write_pixels(const PixelRow& row);
constexpr int kPixelMargin = 64;

}  // namespace avida::codecs
