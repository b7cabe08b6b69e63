// The loops of JPEG decoding, compiled for several instruction sets: Huffman codes, IDCT, upsampling, colours.
#pragma once
#include <cstdint>

#include "codecs/jpeg/read_blocks.h"

namespace avida::codecs {

// One block of every MCU in a row of them.
struct BlockSlot {
  const DcLookup* dc;
  const AcLookup* ac;
  const AcSkip* skip;  // null if all blocks are needed
  int component;
  int16_t* coefficients;  // of a row of groups, all zero
  uint8_t* last;          // of each block: the index of its last coefficient, in zigzag order
  int step, offset;  // the columns of blocks in an MCU, and this one's column, relative to the first that is needed
  int columns;       // that are needed; the others are read and forgotten

  int column(int mcu) const { return mcu * step + offset; }
  // The block of an MCU; null if it is not needed.
  int16_t* find(int mcu) const {
    const int at = column(mcu);
    if (static_cast<unsigned>(at) >= static_cast<unsigned>(columns)) return nullptr;
    return coefficients + at / kGroup * kGroupSize + at % kGroup * 8;
  }
};

// Where a thread is in a scan.
struct ScanState {
  BitReader reader;
  int16_t predicted[3] = {};  // the DC coefficients of each component's block before
};

// Reads `count` MCUs from `first` on. Returns false for codes that the file cannot have.
bool read_mcus(ScanBytes& bytes, ScanState& state, const BlockSlot* slots, int slot_count, int first, int count);

// Consecutive MCUs that were read before it was known where in the image they lie.
struct alignas(64) Recording {  // threads count at the same time
  struct Start {
    uint32_t position;  // in bits, from the beginning of the buffer
    uint32_t entry;
    int16_t predicted[3];
  };
  // For each block, an entry with the number of entries that follow, the index of the last coefficient and the DC
  // coefficient; then the coefficients, with their places in StoreOrder.
  static constexpr uint32_t entry(unsigned at, unsigned last, int16_t value) {
    return at | last << 8 | static_cast<uint32_t>(value) << 16;
  }
  static constexpr int kMostEntries = 10 * 66;  // of an MCU

  uint32_t* entries;
  Start* starts;  // of each MCU, and of the one after the last
  int entry_room, start_room;
  int count;  // of MCUs

  bool is_full() const {
    return count + 1 >= start_room || static_cast<int>(starts[count].entry) + kMostEntries > entry_room;
  }
};

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
