#include "codecs/jpeg_coefficients.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "codecs/bytes.h"
#include "core/clones.h"

namespace avida::codecs {
namespace {

constexpr uint8_t kZigzag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
                                 41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
                                 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

constexpr int kLook = 11;      // bits that are looked up at once
constexpr int kMostBits = 32;  // of one symbol: a code and the number after it
constexpr int kEndOfBlock = 128;
constexpr int kMostExtent = 65500, kMostBlocks = 10;  // of an image, and in a group: libjpeg refuses more
// All numbers of a block together: above, libjpeg's 16 bits may overflow, and its pixels are its own.
constexpr int kMostSum = 5900;

// A Huffman code of symbols: how many zeros come before a number, and how many bits the number has.
struct Code {
  struct Entry {     // what the next bits hold. Where that is not all of a symbol's, `bits` is 0;
    int16_t number;  // where it is a code, these are the symbol
    uint8_t zeros;   // and the length of the code
    uint8_t bits;
  };
  Entry entries[1 << kLook];
  int32_t last[17];    // the largest code of each length, filled up with ones to 16 bits
  int32_t offset[17];  // from a code of each length to the place of its symbol
  uint8_t symbols[256];
  std::vector<uint8_t> source;  // what it was made of

  // False: there is no such code.
  bool make(Bytes description) {
    if (!source.empty() && description.size() >= source.size() &&
        std::ranges::equal(source, description.first(source.size())))
      return true;
    source.clear();
    if (description.size() < 16) return false;
    size_t count = 0;
    for (int i = 0; i < 16; i++) count += description[i];
    if (count > 256 || description.size() < 16 + count) return false;
    std::copy_n(description.data() + 16, count, symbols);
    std::memset(entries, 0, sizeof(entries));
    int code = 0, at = 0;
    for (int length = 1; length <= 16; length++) {
      const int n = description[length - 1];
      offset[length] = at - code;
      if (n && code + n >= 1 << length) return false;  // no code is all ones
      for (int i = 0; i < n; i++, code++, at++)
        if (length <= kLook) enter(code, length, symbols[at]);
      last[length] = n ? (code << (16 - length)) - 1 : -1;
      code <<= 1;
    }
    source.assign(description.begin(), description.begin() + static_cast<std::ptrdiff_t>(16 + count));
    return true;
  }

  bool has_sizes_only() const {
    return std::all_of(source.begin() + 16, source.end(), [](uint8_t symbol) { return symbol < 16; });
  }

  static uint8_t zeros_of(uint8_t symbol) {
    return symbol & 15 || symbol == 0xF0 ? symbol >> 4 : kEndOfBlock;  // 15 zeros and a number of no bits: 16 zeros
  }

 private:
  void enter(int code, int length, uint8_t symbol) {
    const int rest = kLook - length, size = symbol & 15;
    for (int tail = 0; tail < 1 << rest; tail++)
      entries[code << rest | tail] = size > rest ? Entry{symbol, static_cast<uint8_t>(length), 0}
                                                 : Entry{signed_number(tail >> (rest - size), size), zeros_of(symbol),
                                                         static_cast<uint8_t>(length + size)};
  }

 public:
  // The upper half of the numbers of `size` bits is positive.
  static int16_t signed_number(int bits, int size) {
    return static_cast<int16_t>(size && bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits);
  }
};

struct Component {
  uint32_t id = 0;
  int columns = 0, rows = 0;  // of blocks in a group
  int quantization = 0, dc = -1, ac = -1;
};

struct Tables {  // kept from file to file: most have the same
  Code dc[4], ac[4];
  uint16_t quantization[4][64];  // in the order of the file
};

struct Scan {
  int height = 0, width = 0;
  Component component[3];
  int interval = 0;  // groups between two restarts; 0: there are none
  Bytes data;
};

// Reads all segments up to the scan. False for anything unusual.
bool read_segments(Bytes file, Tables& tables, Scan& scan) {
  bool has_dc[4] = {}, has_ac[4] = {}, has_quantization[4] = {}, framed = false;
  for (size_t at = 2;;) {
    if (big_endian(file, at, 1) != 0xFF) return false;
    const uint32_t marker = big_endian(file, at + 1, 1), size = big_endian(file, at + 2, 2);
    if (size < 2) return false;
    Bytes segment = part(file, at + 4, size - 2);
    at += 2 + size;
    if (marker == 0xDB) {
      while (!segment.empty()) {
        const int which = segment[0];
        if (which > 3 || segment.size() < 65) return false;  // 16 bits are unusual
        for (int k = 0; k < 64; k++) tables.quantization[which][k] = segment[1 + k];
        has_quantization[which] = true;
        segment = segment.subspan(65);
      }
    } else if (marker == 0xC4) {
      while (!segment.empty()) {
        const int which = segment[0] & 15, kind = segment[0] >> 4;
        if (which > 3 || kind > 1) return false;
        Code& code = kind ? tables.ac[which] : tables.dc[which];
        if (!code.make(segment.subspan(1)) || (!kind && !code.has_sizes_only())) return false;
        (kind ? has_ac : has_dc)[which] = true;
        segment = segment.subspan(1 + code.source.size());
      }
    } else if (marker == 0xC0) {
      if (framed || segment.size() != 15 || segment[0] != 8 || segment[5] != 3) return false;
      framed = true;
      scan.height = static_cast<int>(big_endian(segment, 1, 2));
      scan.width = static_cast<int>(big_endian(segment, 3, 2));
      for (int c = 0; c < 3; c++) {
        const uint8_t* bytes = &segment[6 + 3 * c];
        scan.component[c] = {bytes[0], bytes[1] >> 4, bytes[1] & 15, bytes[2]};
      }
    } else if (marker == 0xDD) {
      if (segment.size() != 2) return false;
      scan.interval = static_cast<int>(big_endian(segment, 0, 2));
    } else if (marker == 0xDA) {
      if (!framed || segment.size() != 10 || segment[0] != 3 || segment[7] != 0 || segment[8] != 63 || segment[9] != 0)
        return false;
      for (int c = 0; c < 3; c++) {
        Component& component = scan.component[c];
        component.dc = segment[2 + 2 * c] >> 4;
        component.ac = segment[2 + 2 * c] & 15;
        if (segment[1 + 2 * c] != component.id || component.dc > 3 || component.ac > 3 || component.quantization > 3 ||
            !has_dc[component.dc] || !has_ac[component.ac] || !has_quantization[component.quantization])
          return false;
      }
      scan.data = file.subspan(at);
      return true;
    } else if (marker != 0xFE && marker >> 4 != 0xE) {  // neither a comment nor a program's own
      return false;
    }
  }
}

Tables& thread_tables() {
  thread_local Tables tables;
  return tables;
}

// False where that is unusual, or libjpeg refuses it, or the image is another than that of the planes.
bool read_plain(Bytes file, const JpegPlanes& planes, Tables& tables, Scan& scan) {
  try {
    if (!read_segments(file, tables, scan)) return false;
  } catch (const Error&) {
    return false;
  }
  int blocks = 0;
  for (const Component& component : scan.component) {
    if (component.columns < 1 || component.columns > 2 || component.rows < 1 || component.rows > 2) return false;
    blocks += component.columns * component.rows;
  }
  const auto& [a, b, c] = scan.component;
  return blocks <= kMostBlocks && a.id != b.id && b.id != c.id && c.id != a.id && scan.width <= kMostExtent &&
         scan.height <= kMostExtent && scan.width == planes.plane[0].width && scan.height == planes.plane[0].height;
}

// The bytes up to the next marker, without those that are stuffed in, and some zeros for those who read ahead.
struct Unstuffed {
  std::vector<uint8_t> bytes;
  size_t size = 0;

  // Returns the data from the marker on.
  Bytes read(Bytes data) {
    bytes.resize(data.size() + kAhead);
    uint8_t* out = bytes.data();
    while (!data.empty()) {
      const void* found = std::memchr(data.data(), 0xFF, data.size());
      const size_t plain = found ? static_cast<const uint8_t*>(found) - data.data() : data.size();
      std::memcpy(out, data.data(), plain);
      out += plain;
      data = data.subspan(plain);
      if (data.size() < 2 || data[1] != 0) break;
      *out++ = 0xFF;
      data = data.subspan(2);
    }
    size = out - bytes.data();
    std::memset(out, 0, kAhead);
    return data;
  }

  static constexpr size_t kAhead = 4096;  // more than a group of blocks can have
};

struct Bits {
  const uint8_t *at, *end;
  uint64_t held = 0;  // the next ones come first
  int count = 0;

  // There are at least 56 then.
  AVIDA_INLINE void fill() {
    uint64_t next;
    std::memcpy(&next, at, 8);
    held |= __builtin_bswap64(next) >> count;  // those beyond the count come again, and are the same
    at += (63 - count) >> 3;
    count |= 56;
  }
  int64_t left() const { return 8 * (end - at) + count; }
  AVIDA_INLINE void skip(int n) {
    held <<= n;
    count -= n;
  }
};

// The long way, for codes and numbers that are not looked up at once. `bits` is 0 where no code fits.
[[gnu::noinline]] Code::Entry look_further(const Code& code, Code::Entry entry, uint64_t held) {
  auto symbol = static_cast<uint8_t>(entry.number);
  int length = entry.zeros;
  if (!length) {
    const auto next = static_cast<int32_t>(held >> 48);
    length = kLook + 1;
    while (length <= 16 && next > code.last[length]) length++;
    if (length > 16) return {0, 0, 0};
    symbol = code.symbols[((next >> (16 - length)) + code.offset[length]) & 255];
  }
  const int size = symbol & 15, bits = size ? static_cast<int>(held << length >> (64 - size)) : 0;
  return {Code::signed_number(bits, size), Code::zeros_of(symbol), static_cast<uint8_t>(length + size)};
}

// The coefficients that are not 0, multiplied; false where a code is wrong or numbers are too large.
AVIDA_INLINE bool read_block(Bits& bits, const Code& dc, const Code& ac, const uint16_t* factors, int& predicted,
                             int16_t* block) {
  bits.fill();
  Code::Entry entry = dc.entries[bits.held >> (64 - kLook)];
  if (!entry.bits && !(entry = look_further(dc, entry, bits.held)).bits) return false;
  bits.skip(entry.bits);
  predicted += entry.number;
  if (predicted != static_cast<int16_t>(predicted)) return false;
  const int first = predicted * factors[0];
  block[0] = static_cast<int16_t>(first);
  int k = 1, sum = std::abs(first);
  do {
    if (bits.count < kMostBits) bits.fill();
    entry = ac.entries[bits.held >> (64 - kLook)];
    if (!entry.bits && !(entry = look_further(ac, entry, bits.held)).bits) return false;
    bits.skip(entry.bits);
    k += entry.zeros;
    if (k > 63) return k >= kEndOfBlock && sum <= kMostSum;
    const int number = entry.number * factors[k];
    block[kZigzag[k]] = static_cast<int16_t>(number);
    sum += std::abs(number);
  } while (++k < 64);
  return sum <= kMostSum;
}

struct Target {  // where the blocks of a component go
  int16_t* blocks;
  int64_t columns, rows;
};

AVIDA_CLONES bool read_scan(const Scan& scan, const Tables& tables, const Target (&targets)[3], int64_t group_columns,
                            int64_t group_rows) {
  thread_local Unstuffed unstuffed;
  Bytes rest = unstuffed.read(scan.data);
  auto start = [] { return Bits{unstuffed.bytes.data(), unstuffed.bytes.data() + unstuffed.size}; };
  // Whether all was read, but for the rest of a byte, and this marker follows.
  auto ends = [&](const Bits& bits, uint8_t marker) {
    return bits.left() >= 0 && bits.left() < 8 && rest.size() >= 2 && rest[1] == marker;
  };
  Bits bits = start();
  int predicted[3] = {};
  int16_t outside[kJpegBlock];  // blocks of a group that lie beyond the image
  int left = scan.interval;
  uint8_t restart = 0xD0;
  for (int64_t y = 0; y < group_rows; y++)
    for (int64_t x = 0; x < group_columns; x++) {
      if (scan.interval && left-- == 0) {
        if (!ends(bits, restart)) return false;
        rest = unstuffed.read(rest.subspan(2));
        bits = start();
        restart = restart == 0xD7 ? 0xD0 : static_cast<uint8_t>(restart + 1);
        std::fill_n(predicted, 3, 0);
        left = scan.interval - 1;
      }
      for (int c = 0; c < 3; c++) {
        const Component& component = scan.component[c];
        const Code &dc = tables.dc[component.dc], &ac = tables.ac[component.ac];
        const uint16_t* factors = tables.quantization[component.quantization];
        for (int v = 0; v < component.rows; v++)
          for (int h = 0; h < component.columns; h++) {
            const int64_t row = y * component.rows + v, column = x * component.columns + h;
            const bool inside = row < targets[c].rows && column < targets[c].columns;
            int16_t* block = inside ? targets[c].blocks + (row * targets[c].columns + column) * kJpegBlock : outside;
            std::memset(block, 0, kJpegBlock * sizeof(int16_t));
            if (!read_block(bits, dc, ac, factors, predicted[c], block)) return false;
          }
      }
      if (bits.left() < 0) return false;
    }
  return ends(bits, 0xD9);
}

}  // namespace

JpegPlanes jpeg_planes(const JpegHeader& header, const JpegSampling& sampling) {
  auto plane = [&](int columns, int rows) {
    const int width = (header.width + columns - 1) / columns, height = (header.height + rows - 1) / rows;
    return JpegPlanes::Plane{width, height, (width + 7) / 8 * 8, (height + 7) / 8 * 8};
  };
  const JpegPlanes::Plane chroma = plane(sampling.columns, sampling.rows);
  return {{plane(1, 1), chroma, chroma}};
}

bool is_plain_jpeg(Bytes file, const JpegPlanes& planes) {
  Scan scan;
  return read_plain(file, planes, thread_tables(), scan);
}

bool read_jpeg_coefficients(Bytes file, const JpegPlanes& planes, int16_t* out) {
  Tables& tables = thread_tables();
  Scan scan;
  if (!read_plain(file, planes, tables, scan)) return false;
  Target targets[3];
  int most_columns = 0, most_rows = 0;
  for (int c = 0; c < 3; c++) {
    most_columns = std::max(most_columns, scan.component[c].columns);
    most_rows = std::max(most_rows, scan.component[c].rows);
    targets[c] = {out, planes.plane[c].stride / 8, planes.plane[c].rows / 8};
    out += planes.plane[c].samples();
  }
  const int64_t group_columns = (planes.plane[0].width + 8 * most_columns - 1) / (8 * most_columns);
  const int64_t group_rows = (planes.plane[0].height + 8 * most_rows - 1) / (8 * most_rows);
  for (int c = 0; c < 3; c++)  // all blocks are written
    if (group_columns * scan.component[c].columns < targets[c].columns ||
        group_rows * scan.component[c].rows < targets[c].rows)
      return false;
  return read_scan(scan, tables, targets, group_columns, group_rows);
}

}  // namespace avida::codecs
