// Parses the header of a JPEG file, of any process, without a library: once, for whoever plans and decodes.
#pragma once
#include "codecs/codec.h"

namespace avida::codecs {

// A Huffman table as files describe it: the number of codes of each length, and their symbols.
struct HuffmanCode {
  bool defined = false;  // and then
  uint8_t counts[16];    // of the codes with 1 to 16 bits
  uint8_t symbols[256];
};

constexpr std::string_view kJpegBegin = "\xff\xd8\xff";
constexpr int kExtendedFrame = 0xC1, kProgressiveFrame = 0xC2, kLosslessFrame = 0xC3;

// What stands before the entropy-coded data of the first scan.
struct JpegHeader {
  struct Component {
    int id = 0;
    int columns = 0, rows = 0;  // of blocks in an MCU: the sampling factors
    int quantization = 0, dc = 0, ac = 0;
  };
  int frame = 0;  // the second byte of the frame's marker: 0xC0 baseline, 0xC2 progressive, 0xC3 lossless ...
  int precision = 0, height = 0, width = 0, components = 0;
  int orientation = 1;
  int64_t scans = 0;  // counted by their markers, up to the end of the file if there may be several

  // Sequential or progressive with Huffman codes of 8 bits, gray or of three components, and so far without anything
  // unusual or broken. What follows is set for such files only, and is valid by the rules of libjpeg.
  bool ordinary = false;
  bool one_scan = false;  // sequential, with a scan of all components, whose `dc` and `ac` are set
  HuffmanCode dc[4], ac[4];
  uint16_t quantization[4][64];  // in zigzag order
  bool has_quantization[4] = {};
  Component component[3];
  int interval = 0;  // MCUs between two restarts; 0: there are none
  bool jfif = false, adobe = false, adobe_rgb = false;
  Bytes scan, data;  // the header of the scan, and from its entropy-coded data on

  bool is_progressive() const { return frame == kProgressiveFrame; }
  // Whether all components have a table of factors, and a name of their own.
  bool is_complete() const;
  // Whether three components are Y, Cb and Cr, by the rules of libjpeg.
  bool is_ycbcr() const;
};

// Throws Error for a file without a frame, and for its extents.
JpegHeader read_jpeg_header(Bytes file);

// Goes on to the next scan of an ordinary progressive file, which begins with the marker at `rest`; only Huffman tables
// may change before it. Returns false for anything unusual or broken.
bool read_next_scan(JpegHeader& header, Bytes rest);

// What the colour profile in the segments of a file calls itself.
std::string jpeg_profile(Bytes file);

// For tests: how many headers have been read in this process.
int64_t jpeg_headers_read();

// A JPEG file that is open, whoever decodes it.
class JpegFile : public ImageFile {
 public:
  const JpegHeader& header() const { return header_; }
  ImageDetails details() const override { return {.bits = header_.precision, .profile = jpeg_profile(bytes_)}; }

 protected:
  explicit JpegFile(Bytes bytes) : ImageFile(bytes), header_(read_jpeg_header(bytes)) {}

  const JpegHeader header_;
};

}  // namespace avida::codecs
