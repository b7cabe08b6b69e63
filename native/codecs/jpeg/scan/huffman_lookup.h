// Lookup tables for the Huffman codes of sequential JPEG: one entry gives the bits of a code and of its value, and the
// run.
#pragma once
#include <cstdint>

#include "codecs/jpeg/jpeg_header.h"

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

// What the next bits of a scan are. An entry has four bytes, from the lowest on: the bits of code and value together,
// those of the code alone, 63 minus those of the value, and the number of coefficients to advance. The value itself is
// not in the table, so that it need not fit into what is looked up. 0: the code is longer than that, or both are longer
// than kMostBits.
struct CodeLookup {
  static constexpr int kBits = 10;
  static constexpr int kMostBits = 18;          // three fit into a reader that was refilled
  static constexpr unsigned kEndOfBlock = 128;  // the advance of an end of block
  enum Kind { dc, ac };

  uint32_t entries[1 << kBits];
  Kind kind;
  LongCodes long_codes;

  void make(const HuffmanCode& code, Kind of);
  // The entry of any code, which the 16 bits begin with; 0: there is no such code.
  uint32_t find(int bits) const;

 private:
  uint32_t entry(int length, int symbol) const {
    const int run = kind == dc ? 0 : symbol >> 4, size = kind == dc ? symbol : symbol & 15;
    const unsigned advance = kind == ac && !size && run != 15 ? kEndOfBlock : static_cast<unsigned>(run) + 1;
    return static_cast<uint32_t>((length + size) | length << 8 | (63 - size) << 16) | advance << 24;
  }
};

// For blocks that are not needed: an entry has the bits of all coefficients that fit into what is looked up, the number
// of coefficients to advance, and whether the block ends there. 0: not even one fits.
struct AcSkip {
  static constexpr int kBits = CodeLookup::kBits, kAdvance = 5, kEnd = 1 << 12;
  static constexpr unsigned kMostAdvance = 63;
  uint16_t entries[1 << kBits];

  void make(const CodeLookup& ac);
};

}  // namespace avida::codecs
