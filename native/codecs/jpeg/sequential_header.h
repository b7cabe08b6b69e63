// Reads the segments of an ordinary JPEG file before its scans: frame, tables, restart interval, colours.
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
  bool extended = false;     // SOF1 rather than SOF0
  bool progressive = false;  // SOF2
  int height = 0, width = 0;
  int components = 0;  // 1 or 3, all in the scan
  Component component[3];
  int interval = 0;  // MCUs between two restarts; 0: there are none
  bool jfif = false, adobe = false, adobe_rgb = false;
  Bytes data;  // from the entropy-coded data on

  // Whether all components have a table of factors, and a name of their own.
  bool is_complete() const;
  bool is_of(const ImageInfo& info) const {
    return height == info.height && width == info.width && components == info.channels;
  }
  // Whether three components are Y, Cb and Cr, by the rules of libjpeg.
  bool is_ycbcr() const;
};

// Reads the segments one by one. All functions return false for anything unusual or broken.
class JpegSegments : public SequentialHeader {
 public:
  // Reads up to the next scan, of which it returns the header. `rest` begins with a marker, and with the data of the
  // scan afterwards. Before a second scan, only codes may change.
  bool read_to_scan(Bytes& rest, Bytes& scan);
  // Reads the header of a scan that has all components.
  bool read_scan(Bytes scan);

 private:
  bool read_segment(uint32_t marker, Bytes segment);
  bool read_application(uint32_t marker, Bytes segment);
  bool read_quantization(Bytes segment);
  bool read_codes(Bytes segment);
  bool read_frame(Bytes segment);
  bool read_interval(Bytes segment);

  bool framed_ = false, scanned_ = false;
};

// Of a file with one scan. Returns nothing for a file that is in any way unusual or broken: libjpeg-turbo has to decode
// it. What is returned is valid by the rules of libjpeg.
std::optional<SequentialHeader> read_sequential_header(Bytes file);

}  // namespace avida::codecs
