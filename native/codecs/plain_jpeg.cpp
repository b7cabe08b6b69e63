#include "codecs/plain_jpeg.h"

#include <algorithm>
#include <cstring>

#include "codecs/bytes.h"

namespace avida::codecs {
namespace {

constexpr int kMostExtent = 65500;  // of an image: libjpeg refuses more

// Reads a code from its description; returns how long that is, 0 where there is no such code.
size_t read_code(Bytes description, JpegCode& code) {
  if (description.size() < 16) return 0;
  size_t count = 0;
  for (int i = 0; i < 16; i++) count += description[i];
  if (count > 256 || description.size() < 16 + count) return 0;
  std::copy_n(description.data() + 16, count, code.symbols);
  int next = 0, at = 0;
  for (int length = 1; length <= 16; length++, next <<= 1) {
    const int n = description[length - 1];
    code.offset[length] = at - next;
    at += n;
    next += n;
    if (n && next >= 1 << length) return 0;  // no code is all ones
    code.last[length] = n ? (next << (16 - length)) - 1 : -1;
  }
  return 16 + count;
}

struct Component {
  uint32_t id = 0;
  int columns = 0, rows = 0;  // of blocks in a group
  int quantization = 0, dc = 0, ac = 0;
};

struct Segments {
  JpegCode codes[4] = {};       // DC, DC, AC, AC
  uint8_t quantization[4][64];  // in the order of the file
  bool has_code[4] = {}, has_quantization[4] = {}, framed = false;
  int height = 0, width = 0;
  Component component[3];
  int interval = 0;
  Bytes data;

  // Reads all segments up to the scan. False for anything unusual.
  bool read(Bytes file) {
    for (size_t at = 2;;) {
      if (big_endian(file, at, 1) != 0xFF) return false;
      const uint32_t marker = big_endian(file, at + 1, 1), size = big_endian(file, at + 2, 2);
      if (size < 2) return false;
      const Bytes segment = part(file, at + 4, size - 2);
      at += 2 + size;
      if (marker == 0xDA) {
        data = file.subspan(at);
        return read_scan(segment);
      }
      const bool plain = marker == 0xDB   ? read_quantization(segment)
                         : marker == 0xC4 ? read_codes(segment)
                         : marker == 0xC0 ? read_frame(segment)
                         : marker == 0xDD ? read_interval(segment)
                                          : marker == 0xFE || marker >> 4 == 0xE;  // a comment, or a program's own
      if (!plain) return false;
    }
  }

 private:
  bool read_quantization(Bytes segment) {
    for (; !segment.empty(); segment = segment.subspan(65)) {
      const int which = segment[0];
      if (which > 3 || segment.size() < 65) return false;  // 16 bits are unusual
      std::copy_n(segment.data() + 1, 64, quantization[which]);
      has_quantization[which] = true;
    }
    return true;
  }

  bool read_codes(Bytes segment) {
    while (!segment.empty()) {
      const int which = segment[0] & 15, kind = segment[0] >> 4;
      if (which > 1 || kind > 1) return false;  // a baseline file has two of each
      JpegCode& code = codes[2 * kind + which];
      const size_t size = read_code(segment.subspan(1), code);
      if (!size) return false;
      // For DC, a symbol is a number of bits.
      if (!kind && !std::all_of(code.symbols, code.symbols + size - 16, [](uint8_t symbol) { return symbol < 16; }))
        return false;
      has_code[2 * kind + which] = true;
      segment = segment.subspan(1 + size);
    }
    return true;
  }

  bool read_frame(Bytes segment) {
    if (framed || segment.size() != 15 || segment[0] != 8 || segment[5] != 3) return false;
    framed = true;
    height = static_cast<int>(big_endian(segment, 1, 2));
    width = static_cast<int>(big_endian(segment, 3, 2));
    for (int c = 0; c < 3; c++) {
      const uint8_t* bytes = &segment[6 + 3 * c];
      component[c] = {bytes[0], bytes[1] >> 4, bytes[1] & 15, bytes[2]};
    }
    return true;
  }

  bool read_interval(Bytes segment) {
    if (segment.size() != 2) return false;
    interval = static_cast<int>(big_endian(segment, 0, 2));
    return true;
  }

  bool read_scan(Bytes segment) {
    if (!framed || segment.size() != 10 || segment[0] != 3 || segment[7] != 0 || segment[8] != 63 || segment[9] != 0)
      return false;
    for (int c = 0; c < 3; c++) {
      Component& one = component[c];
      one.dc = segment[2 + 2 * c] >> 4;
      one.ac = segment[2 + 2 * c] & 15;
      if (segment[1 + 2 * c] != one.id || one.dc > 1 || one.ac > 1 || one.quantization > 3 || !has_code[one.dc] ||
          !has_code[2 + one.ac] || !has_quantization[one.quantization])
        return false;
    }
    const auto& [a, b, c] = component;
    return a.id != b.id && b.id != c.id && c.id != a.id;
  }
};

}  // namespace

std::optional<PlainJpeg> read_plain_jpeg(Bytes file) {
  const auto sampling = jpeg_sampling(file);
  if (!sampling || !sampling->one_scan || sampling->columns > 2 || sampling->rows > sampling->columns) return {};
  Segments found;
  try {
    if (!found.read(file)) return {};
  } catch (const Error&) {
    return {};
  }
  if (found.width < 1 || found.height < 1 || found.width > kMostExtent || found.height > kMostExtent) return {};
  PlainJpeg plain{.columns = sampling->columns, .rows = sampling->rows, .interval = found.interval, .data = found.data};
  JpegScan& scan = plain.scan;
  std::copy_n(found.codes, 4, scan.codes);
  scan.blocks = 0;
  scan.second_dc = scan.second_ac = 0;
  int most_columns = 0, most_rows = 0, before = 0;
  for (int c = 0; c < 3; c++) {
    const Component& component = found.component[c];
    if (component.columns < 1 || component.columns > 2 || component.rows < 1 || component.rows > 2) return {};
    most_columns = std::max(most_columns, component.columns);
    most_rows = std::max(most_rows, component.rows);
    const int columns = c ? sampling->columns : 1, rows = c ? sampling->rows : 1;
    const int width = (found.width + columns - 1) / columns, height = (found.height + rows - 1) / rows;
    plain.plane[c] = {width, height, (width + 7) / 8 * 8, (height + 7) / 8 * 8};
    JpegScan::Plane& plane = scan.plane[c];
    plane.before = before;
    plane.columns = (width + 7) / 8;
    plane.rows = (height + 7) / 8;
    plane.group_columns = component.columns;
    plane.group_rows = component.rows;
    before += plane.columns * plane.rows;
    std::copy_n(found.quantization[component.quantization], 64, plane.factors);
    for (int row = 0; row < component.rows; row++)
      for (int column = 0; column < component.columns; column++) {
        if (scan.blocks == JpegScan::kMostBlocks) return {};
        scan.second_dc |= static_cast<uint32_t>(component.dc) << scan.blocks;
        scan.second_ac |= static_cast<uint32_t>(component.ac) << scan.blocks;
        scan.place[scan.blocks++] = {static_cast<uint8_t>(c), static_cast<uint8_t>(row), static_cast<uint8_t>(column),
                                     0};
      }
  }
  const uint32_t all = (1u << scan.blocks) - 1;
  scan.period = scan.second_dc % all || scan.second_ac % all ? scan.blocks : 1;
  scan.group_columns = (found.width + 8 * most_columns - 1) / (8 * most_columns);
  const int group_rows = (found.height + 8 * most_rows - 1) / (8 * most_rows);
  plain.groups = scan.group_columns * group_rows;
  for (const JpegScan::Plane& plane : scan.plane)  // all blocks are written
    if (scan.group_columns * plane.group_columns < plane.columns || group_rows * plane.group_rows < plane.rows)
      return {};
  // A block has at least two bits, an interval ends with two bytes: what is far too short is not worth the memory.
  constexpr size_t kMostBytes = size_t(1) << 26;
  const size_t least_bits = size_t{2} * plain.groups * scan.blocks + size_t{16} * plain.intervals();
  if (plain.data.size() > kMostBytes || plain.data.size() * 8 < least_bits) return {};
  return plain;
}

size_t PlainJpeg::room() const { return data.size() + 4 * static_cast<size_t>(intervals()) + JpegReader::kAhead; }

bool PlainJpeg::copy_bytes(uint8_t* to, JpegBits* bits) const {
  uint8_t* out = to;
  Bytes rest = data;
  const int each = interval ? interval : groups;
  for (int first = 0; first < groups; first += each) {
    while ((out - to) % 4) *out++ = 0;
    const uint8_t* begin = out;
    while (true) {  // up to the next marker, without the zeros that are stuffed in
      const void* found = std::memchr(rest.data(), 0xFF, rest.size());
      const size_t plain = found ? static_cast<const uint8_t*>(found) - rest.data() : rest.size();
      std::memcpy(out, rest.data(), plain);
      out += plain;
      rest = rest.subspan(plain);
      if (rest.size() < 2) return false;
      if (rest[1] != 0) break;
      *out++ = 0xFF;
      rest = rest.subspan(2);
    }
    constexpr int kEnd = 0xD9, kRestart = 0xD0;
    const bool last = first + each >= groups;
    if (rest[1] != (last ? kEnd : kRestart + first / each % 8)) return false;
    rest = rest.subspan(2);
    *bits++ = {static_cast<unsigned>(begin - to), static_cast<unsigned>(8 * (out - begin)), first,
               std::min(each, groups - first)};
  }
  std::memset(out, 0, JpegReader::kAhead);
  return true;
}

}  // namespace avida::codecs
