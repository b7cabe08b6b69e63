// A baseline JPEG scan in the form that kernels read: codes, places of blocks, segments of the data. Read by NVRTC too.
//
// The data is divided into segments, each for one thread block, and these into parts, each for one thread.
#pragma once
#include "device/macros.h"

namespace avida {

// A Huffman table. A symbol says how many zeros come before a coefficient, and how many bits it has.
struct JpegCode {
  int last[17];    // the largest code of each length, filled up with ones to 16 bits; -1: there is none
  int offset[17];  // from a code of each length to the index of its symbol
  unsigned char symbols[256];
};

// The header of a scan of Y, or of Y, Cb and Cr. Its blocks come in MCUs.
struct JpegScan {
  static constexpr int kMostBlocks = 10;  // in an MCU
  struct Plane {
    int before;                 // blocks of other planes
    int columns, rows;          // of blocks
    int mcu_columns, mcu_rows;  // blocks in an MCU
    int factors[64];            // of quantization, in zigzag order
  };
  JpegCode codes[4];  // DC, DC, AC, AC
  Plane plane[3];
  int mcus_across;
  int blocks;  // in an MCU
  struct {
    unsigned char plane, row, column, spare;
  } place[kMostBlocks];           // of each of them
  unsigned second_dc, second_ac;  // a bit for each that uses the second code
  int period;                     // of these bits: 1 where all use the same
};

// The state of a decoder at the end of a part: all that is needed to continue.
struct JpegState {
  unsigned packed;
  static constexpr unsigned kMostOver = 255;
  AVIDA_HD AVIDA_INLINE static constexpr JpegState of(unsigned over, unsigned k, unsigned block) {
    return {over | k << 8 | block << 16};
  }
  AVIDA_HD AVIDA_INLINE unsigned over() const { return packed & 255; }    // bits that were read after the part's end
  AVIDA_HD AVIDA_INLINE unsigned k() const { return packed >> 8 & 255; }  // the coefficient that comes next
  AVIDA_HD AVIDA_INLINE unsigned block() const { return packed >> 16 & 255; }  // in its MCU
};

// A part of the data of a file that one thread block decodes.
struct JpegSegment {
  static constexpr int kThreads = 256;  // each reads a part
  static constexpr int kMostLead = 8;   // parts
  static constexpr unsigned kPartBits = 32 * 32, kMostBits = (kThreads - kMostLead) * kPartBits;
  static constexpr int kAhead = 64;  // bytes that may be read after the last one

  const unsigned char* bytes;      // without stuffed zeros; aligned to four bytes
  unsigned first, count;           // bits: those before it, which it begins with, and its own, at most kMostBits
  unsigned after;                  // bits of its interval in the segments that follow
  unsigned guess;                  // a JpegState to begin with
  unsigned skipped;                // blocks between the segment before and this one, which repeat its first ones:
  unsigned period, period_blocks;  // so many bits and blocks, without any coefficients
  int lead;                        // parts before it that are read to synchronise
  int file;
  int first_of_interval;  // the index of a segment
  int interval;
  int first_part;
  int first_block, end_block;  // of the interval

  AVIDA_HD AVIDA_INLINE int parts() const { return static_cast<int>((count + kPartBits - 1) / kPartBits); }
  // `part`: from -lead on.
  AVIDA_HD AVIDA_INLINE unsigned part_begin(int part) const {
    return static_cast<unsigned>(static_cast<int>(first) + part * static_cast<int>(kPartBits));
  }
  AVIDA_HD AVIDA_INLINE unsigned part_end(int part) const {
    const unsigned end = part_begin(part + 1);
    return end < first + count ? end : first + count;
  }
};

}  // namespace avida
