// Reads the segments of an ordinary sequential JPEG file up to its only scan: frame, tables, restart interval, colours.
#pragma once
#include <optional>

#include "codecs/codec.h"

namespace avida::codecs {

// A Huffman table as files describe it: the number of codes of each length, and their symbols.
struct HuffmanCode {
  uint8_t counts[16] = {};  // of the codes with 1 to 16 bits
  uint8_t symbols[256] = {};
  bool defined = false;
};

struct SequentialHeader {
  struct Component {
    int id = 0;
    int columns = 0, rows = 0;  // of blocks in an MCU: the sampling factors
    int quantization = 0, dc = 0, ac = 0;
  };
  HuffmanCode dc[4], ac[4];
  uint16_t quantization[4][64];  // in zigzag order
  bool has_quantization[4] = {};
  bool extended = false;  // SOF1 rather than SOF0
  int height = 0, width = 0;
  int components = 0;  // 1 or 3, all in the scan
  Component component[3];
  int interval = 0;  // MCUs between two restarts; 0: there are none
  bool jfif = false, adobe = false, adobe_rgb = false;
  Bytes data;  // from the entropy-coded data on

  // Whether three components are Y, Cb and Cr, by the rules of libjpeg.
  bool is_ycbcr() const;
};

// Returns nothing for a file that is in any way unusual or broken: libjpeg-turbo has to decode it. What is returned is
// valid by the rules of libjpeg.
std::optional<SequentialHeader> read_sequential_header(Bytes file);

}  // namespace avida::codecs
