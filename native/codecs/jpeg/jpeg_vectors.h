// The loops of JPEG decoding, compiled for several instruction sets: Huffman codes, IDCT, upsampling, colours.
#pragma once
#include <cstdint>

#include "codecs/jpeg/read_blocks.h"

namespace avida::codecs {

// Reads `count` MCUs from `first` on. Returns false for codes that the file cannot have.
bool read_mcus(ScanBytes& bytes, ScanState& state, const BlockSlot* slots, int slot_count, int first, int count);

// Reads MCUs into a recording, after those that it has: at most `most`, as long as they begin before `end` and there is
// room. Returns false for codes that the file cannot have; the MCUs before are recorded.
bool record_mcus(const ScanBytes& bytes, ScanState& state, const BlockSlot* slots, int slot_count, uint32_t end,
                 int64_t most, Recording& recording);

// Reads a scan of one component of a progressive file, of which all data is in the buffer: the blocks of `rows` rows
// and `columns` columns. Returns false for codes that an ordinary file does not have.
bool read_band(const ScanBytes& bytes, BandState& state, const Band& band, const BandLookup& ac,
               const CoefficientPlane& plane, int columns, int rows);

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
