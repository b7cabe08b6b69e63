// Lookup tables for the Huffman codes of sequential JPEG: one entry gives run, size and value of a coefficient at once.
#pragma once
#include <cstdint>

#include "codecs/jpeg/sequential_header.h"

namespace avida::codecs {

// The codes that are longer than what is looked up: found by their length.
struct LongCodes {
  int32_t last[17];    // the largest code of each length, filled up with ones to 16 bits; -1: there is none
  int32_t offset[17];  // from a code of each length to the index of its symbol
  uint8_t symbols[256];

  explicit LongCodes(const HuffmanCode& code);
  LongCodes() = default;
  // The length and the symbol of the code that the 16 bits begin with; length 0: there is no such code.
  struct Found {
    int length, symbol;
  };
  Found find(int bits) const {
    for (int length = 1; length <= 16; length++)
      if (bits <= last[length]) return {length, symbols[((bits >> (16 - length)) + offset[length]) & 255]};
    return {0, 0};
  }
};

// An entry has the bits of code and value, the number of coefficients to advance, and the value. A coefficient that is
// followed by an end of block is one entry with it if both fit. No bits: the value does not fit into what is looked up;
// `value` has the length of the code and the symbol instead, or the entry is 0 for a longer code.
struct AcLookup {
  static constexpr int kBits = 10, kAdvance = 6;
  static constexpr uint32_t kLast = 128;        // is added to the advance of a block's last coefficient
  static constexpr uint32_t kEndOfBlock = 256;  // the advance of an end of block
  static constexpr uint32_t entry(int bits, uint32_t advance, int value) {
    return static_cast<uint32_t>(bits) | advance << kAdvance | static_cast<uint32_t>(value) << 16;
  }
  uint32_t entries[1 << kBits];
  unsigned end_code, end_length;  // of the end of block
  LongCodes long_codes;

  void make(const HuffmanCode& code);
};

// For blocks that are not needed: an entry has the bits of all coefficients that fit into what is looked up, the number
// of coefficients to advance, and whether the block ends there. 0: not even one fits.
struct AcSkip {
  static constexpr int kBits = 10, kAdvance = 5, kEnd = 1 << 12;
  static constexpr unsigned kMostAdvance = 63;
  uint16_t entries[1 << kBits];

  void make(const AcLookup& ac);
};

// An entry has the bits of code and value, and the bits of the code in the next byte; 0: the code is longer.
struct DcLookup {
  static constexpr int kBits = 9;
  uint16_t entries[1 << kBits];
  LongCodes long_codes;

  void make(const HuffmanCode& code);
};

}  // namespace avida::codecs
