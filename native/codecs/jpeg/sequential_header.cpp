#include "codecs/jpeg/sequential_header.h"

#include <algorithm>

#include "codecs/bytes.h"

namespace avida::codecs {
namespace {

constexpr int kMostExtent = 65500;  // of an image: libjpeg refuses more
constexpr int kMostBlocks = 10;     // of an MCU

// Whether the codes of each length fit: codes are consecutive, and none is all ones.
bool is_valid(const HuffmanCode& code) {
  int next = 0;
  for (int length = 1; length <= 16; length++, next <<= 1) {
    next += code.counts[length - 1];
    if (code.counts[length - 1] && next >= 1 << length) return false;
  }
  return true;
}

// Reads a Huffman table; returns the length of its description, 0 for a broken one.
size_t read_code(Bytes description, HuffmanCode& code) {
  if (description.size() < 16) return 0;
  std::copy_n(description.data(), 16, code.counts);
  size_t count = 0;
  for (uint8_t n : code.counts) count += n;
  if (count > 256 || description.size() < 16 + count) return 0;
  std::copy_n(description.data() + 16, count, code.symbols);
  code.defined = true;
  return is_valid(code) ? 16 + count : 0;
}

}  // namespace

bool JpegSegments::read_to_scan(Bytes& rest, Bytes& scan) {
  try {
    for (size_t at = 0;;) {
      if (big_endian(rest, at, 1) != 0xFF) return false;
      const uint32_t marker = big_endian(rest, at + 1, 1), size = big_endian(rest, at + 2, 2);
      if (size < 2) return false;
      const Bytes segment = part(rest, at + 4, size - 2);
      at += 2 + size;
      if (marker == 0xDA) {
        scan = segment;
        data = rest = rest.subspan(at);
        scanned_ = true;
        return framed_;
      }
      if (!read_segment(marker, segment)) return false;
    }
  } catch (const Error&) {
    return false;
  }
}

bool JpegSegments::read_segment(uint32_t marker, Bytes segment) {
  switch (marker) {
    case 0xDB:
      return !scanned_ && read_quantization(segment);
    case 0xC4:
      return read_codes(segment);
    case 0xC0:
    case 0xC1:
    case 0xC2:
      extended = marker == 0xC1;
      progressive = marker == 0xC2;
      return read_frame(segment);
    case 0xDD:
      return !scanned_ && read_interval(segment);
    default:
      return marker == 0xFE || (marker >> 4 == 0xE && read_application(marker, segment));
  }
}

bool JpegSegments::read_application(uint32_t marker, Bytes segment) {
  jfif |= marker == 0xE0 && segment.size() >= 14 && has_text(segment, 0, {"JFIF", 5});
  if (marker == 0xEE && segment.size() >= 12 && has_text(segment, 0, "Adobe")) {
    adobe = true;
    adobe_rgb = segment[11] == 0;
  }
  return true;
}

bool JpegSegments::read_quantization(Bytes segment) {
  while (!segment.empty()) {
    const int which = segment[0] & 15, bytes = 1 + (segment[0] >> 4);
    const size_t size = 1 + size_t{64} * bytes;
    if (which > 3 || bytes > 2 || segment.size() < size) return false;
    for (int k = 0; k < 64; k++)
      quantization[which][k] = static_cast<uint16_t>(big_endian(segment, 1 + size_t{1} * k * bytes, bytes));
    has_quantization[which] = true;
    segment = segment.subspan(size);
  }
  return true;
}

bool JpegSegments::read_codes(Bytes segment) {
  while (!segment.empty()) {
    const int which = segment[0] & 15, kind = segment[0] >> 4;
    if (which > 3 || kind > 1) return false;
    HuffmanCode& code = (kind ? ac : dc)[which];
    code = {};
    const size_t size = read_code(segment.subspan(1), code);
    if (!size) return false;
    // For DC, a symbol is a number of bits.
    if (!kind && !std::all_of(code.symbols, code.symbols + size - 16, [](uint8_t symbol) { return symbol < 16; }))
      return false;
    segment = segment.subspan(1 + size);
  }
  return true;
}

bool JpegSegments::read_frame(Bytes segment) {
  if (framed_ || segment.size() < 6 || segment[0] != 8) return false;
  components = segment[5];
  if ((components != 1 && components != 3) || segment.size() != 6 + size_t{3} * components) return false;
  framed_ = true;
  height = static_cast<int>(big_endian(segment, 1, 2));
  width = static_cast<int>(big_endian(segment, 3, 2));
  int blocks = 0;
  for (int c = 0; c < components; c++) {
    const uint8_t* bytes = &segment[6 + 3 * c];
    Component& one = component[c] = {bytes[0], bytes[1] >> 4, bytes[1] & 15, bytes[2]};
    const auto usual = [](int factor) { return factor == 1 || factor == 2 || factor == 4; };  // 3 is valid, and rare
    if (!usual(one.columns) || !usual(one.rows) || one.quantization > 3) return false;
    blocks += one.columns * one.rows;
  }
  return blocks <= kMostBlocks && width >= 1 && height >= 1 && width <= kMostExtent && height <= kMostExtent;
}

bool JpegSegments::read_interval(Bytes segment) {
  if (segment.size() != 2) return false;
  interval = static_cast<int>(big_endian(segment, 0, 2));
  return true;
}

bool JpegSegments::read_scan(Bytes segment) {
  const size_t end = 1 + size_t{2} * components;
  if (segment.size() != end + 3 || segment[0] != components || segment[end] != 0 || segment[end + 1] != 63 ||
      segment[end + 2] != 0)
    return false;
  for (int c = 0; c < components; c++) {
    Component& one = component[c];
    one.dc = segment[2 + 2 * c] >> 4;
    one.ac = segment[2 + 2 * c] & 15;
    if (segment[1 + 2 * c] != one.id || one.dc > 3 || one.ac > 3 || !dc[one.dc].defined || !ac[one.ac].defined)
      return false;
  }
  return is_complete();
}

bool SequentialHeader::is_complete() const {
  for (int c = 0; c < components; c++)
    if (!has_quantization[component[c].quantization]) return false;
  const auto& [a, b, c] = component;
  return components == 1 || (a.id != b.id && b.id != c.id && c.id != a.id);
}

bool SequentialHeader::is_ycbcr() const {
  const auto& [a, b, c] = component;
  const bool rgb = adobe ? adobe_rgb : a.id == 'R' && b.id == 'G' && c.id == 'B';
  return components == 3 && (jfif || !rgb);
}

std::optional<SequentialHeader> read_sequential_header(Bytes file) {
  JpegSegments found;
  Bytes rest = file.subspan(std::min<size_t>(file.size(), 2)), scan;
  if (!found.read_to_scan(rest, scan) || found.progressive || !found.read_scan(scan)) return {};
  return found;
}

}  // namespace avida::codecs
