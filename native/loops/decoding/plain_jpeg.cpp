#include "loops/decoding/plain_jpeg.h"

#include <algorithm>
#include <cstring>

#include "codecs/jpeg/sequential_header.h"

namespace avida::codecs {
namespace {

// The codes in the form that kernels read.
JpegCode device_code(const HuffmanCode& from) {
  JpegCode code{};
  std::copy_n(from.symbols, 256, code.symbols);
  for (int length = 1, next = 0, at = 0; length <= 16; length++, next <<= 1) {
    const int n = from.counts[length - 1];
    code.offset[length] = at - next;
    at += n;
    next += n;
    code.last[length] = n ? (next << (16 - length)) - 1 : -1;
  }
  return code;
}

// Whether the file is baseline, with two tables of each kind and factors of 8 bits.
bool is_baseline(const SequentialHeader& header) {
  if (header.extended || header.components != 3) return false;
  for (const auto& one : header.component) {
    if (one.dc > 1 || one.ac > 1) return false;
    const uint16_t* factors = header.quantization[one.quantization];
    if (std::any_of(factors, factors + 64, [](uint16_t factor) { return factor > 255; })) return false;
  }
  return true;
}

}  // namespace

std::optional<PlainJpeg> read_plain_jpeg(Bytes file) {
  const auto header = read_sequential_header(file);
  if (!header || !is_baseline(*header)) return {};
  const SequentialHeader& found = *header;
  const auto& [luma, chroma, other] = found.component;
  for (const auto& one : found.component)
    if (one.columns < 1 || one.columns > 2 || one.rows < 1 || one.rows > 2) return {};
  if (!found.is_ycbcr() || chroma.columns != other.columns || chroma.rows != other.rows ||
      luma.columns % chroma.columns || luma.rows % chroma.rows)
    return {};
  const int fewer_columns = luma.columns / chroma.columns, fewer_rows = luma.rows / chroma.rows;
  if (fewer_rows > fewer_columns) return {};
  PlainJpeg plain{.columns = fewer_columns, .rows = fewer_rows, .interval = found.interval, .data = found.data};
  JpegScan& scan = plain.scan;
  for (int i = 0; i < 2; i++) {
    scan.codes[i] = device_code(found.dc[i]);
    scan.codes[2 + i] = device_code(found.ac[i]);
  }
  scan.blocks = 0;
  scan.second_dc = scan.second_ac = 0;
  int most_columns = 0, most_rows = 0, before = 0;
  for (int c = 0; c < 3; c++) {
    const SequentialHeader::Component& component = found.component[c];
    most_columns = std::max(most_columns, component.columns);
    most_rows = std::max(most_rows, component.rows);
    const int columns = c ? fewer_columns : 1, rows = c ? fewer_rows : 1;
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
  // A block has at least two bits, an interval ends with two bytes: a file that is too short gets no memory.
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
