#include "codecs/jpeg/jpeg_header.h"

#include <algorithm>
#include <atomic>

#include "codecs/bytes.h"
#include "codecs/exif.h"
#include "codecs/icc.h"

namespace avida::codecs {
namespace {

constexpr int kHuffmanTables = 0xC4, kScan = 0xDA, kEnd = 0xD9, kFactors = 0xDB, kInterval = 0xDD, kExif = 0xE1,
              kProfile = 0xE2;
constexpr int kJpegLsFrame = 0xF7;
constexpr int kMostExtent = 65500;  // of an image: libjpeg refuses more
constexpr int kMostBlocks = 10;     // of an MCU

std::atomic<int64_t> headers_read{0};

bool is_frame(int marker) {
  const bool table = marker == kHuffmanTables || marker == 0xC8 || marker == 0xCC;
  return marker >= 0xC0 && marker <= 0xCF && !table;
}

// The segments of a file, one after the other.
class Segments {
 public:
  explicit Segments(Bytes file, size_t at = 2) : file_(file), at_(at) {}

  int marker = 0;  // its second byte
  Bytes content;
  bool exact = true;  // whether segments have followed one another without other bytes so far

  // Returns false at the end of the image. Throws Error where the file ends. Bytes between segments are skipped, as all
  // decoders do; so is the data of scans, where 0xFF is followed by 0.
  bool next() {
    size_t at = at_;
    int found;
    while (true) {
      const size_t before = at;
      const void* first = at < file_.size() ? std::memchr(&file_[at], 0xFF, file_.size() - at) : nullptr;
      at = first ? static_cast<const uint8_t*>(first) - file_.data() : file_.size();
      while (big_endian(file_, at, 1) == 0xFF) at++;  // a marker may be preceded by fill bytes of 0xFF
      found = file_[at++];
      const bool alone = found == 0 || found == 0x01 || (found >= 0xD0 && found <= 0xD8);
      exact = exact && at == before + 2 && !alone;
      if (!alone) break;
    }
    marker = found;
    if (marker == kEnd) return false;
    const uint32_t size = big_endian(file_, at, 2);
    if (size < 2) refuse("expected a segment of at least 2 bytes at byte ", at, ", got ", size);
    content = part(file_, at + 2, size - 2);
    at_ = at + size;
    return true;
  }
  Bytes rest() const { return part(file_, at_, file_.size() - std::min(at_, file_.size())); }

 private:
  const Bytes file_;
  size_t at_;
};

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

// What follows reads a segment of an ordinary file, and returns false for anything unusual or broken.

bool read_codes(JpegHeader& header, Bytes segment) {
  while (!segment.empty()) {
    const int which = segment[0] & 15, kind = segment[0] >> 4;
    if (which > 3 || kind > 1) return false;
    HuffmanCode& code = (kind ? header.ac : header.dc)[which];
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

bool read_factors(JpegHeader& header, Bytes segment) {
  while (!segment.empty()) {
    const int which = segment[0] & 15, bytes = 1 + (segment[0] >> 4);
    const size_t size = 1 + size_t{64} * bytes;
    if (which > 3 || bytes > 2 || segment.size() < size) return false;
    const uint8_t* from = &segment[1];
    uint16_t* factors = header.quantization[which];
    if (bytes == 1)
      std::copy_n(from, 64, factors);
    else
      for (int k = 0; k < 64; k++) factors[k] = static_cast<uint16_t>(from[2 * k] << 8 | from[2 * k + 1]);
    header.has_quantization[which] = true;
    segment = segment.subspan(size);
  }
  return true;
}

bool read_components(JpegHeader& header, Bytes segment) {
  const int count = header.components;
  if (header.frame > kProgressiveFrame || header.precision != 8 || (count != 1 && count != 3) ||
      segment.size() != 6 + size_t{3} * count)
    return false;
  int blocks = 0;
  for (int c = 0; c < count; c++) {
    const uint8_t* bytes = &segment[6 + 3 * c];
    JpegHeader::Component& one = header.component[c] = {bytes[0], bytes[1] >> 4, bytes[1] & 15, bytes[2]};
    const auto usual = [](int factor) { return factor == 1 || factor == 2 || factor == 4; };  // 3 is valid, and rare
    if (!usual(one.columns) || !usual(one.rows) || one.quantization > 3) return false;
    blocks += one.columns * one.rows;
  }
  const auto fits = [](int extent) { return extent >= 1 && extent <= kMostExtent; };
  return blocks <= kMostBlocks && fits(header.width) && fits(header.height);
}

bool read_interval(JpegHeader& header, Bytes segment) {
  if (segment.size() != 2) return false;
  header.interval = static_cast<int>(big_endian(segment, 0, 2));
  return true;
}

void read_application(JpegHeader& header, int marker, Bytes segment) {
  header.jfif |= marker == 0xE0 && segment.size() >= 14 && has_text(segment, 0, {"JFIF", 5});
  if (marker == 0xEE && segment.size() >= 12 && has_text(segment, 0, "Adobe")) {
    header.adobe = true;
    header.adobe_rgb = segment[11] == 0;
  }
}

bool is_remark(int marker) { return marker == 0xFE || marker >> 4 == 0xE; }

// Any but frames and scans.
bool read_ordinary(JpegHeader& header, int marker, Bytes segment) {
  switch (marker) {
    case kFactors:
      return read_factors(header, segment);
    case kHuffmanTables:
      return read_codes(header, segment);
    case kInterval:
      return read_interval(header, segment);
    default:
      read_application(header, marker, segment);
      return is_remark(marker);
  }
}

// The tables of a scan that has all components and all coefficients.
bool read_whole_scan(JpegHeader& header) {
  const Bytes segment = header.scan;
  const size_t end = 1 + size_t{2} * header.components;
  if (segment.size() != end + 3 || segment[0] != header.components || segment[end] != 0 || segment[end + 1] != 63 ||
      segment[end + 2] != 0)
    return false;
  for (int c = 0; c < header.components; c++) {
    JpegHeader::Component& one = header.component[c];
    one.dc = segment[2 + 2 * c] >> 4;
    one.ac = segment[2 + 2 * c] & 15;
    if (segment[1 + 2 * c] != one.id || one.dc > 3 || one.ac > 3 || !header.dc[one.dc].defined ||
        !header.ac[one.ac].defined)
      return false;
  }
  return header.is_complete();
}

// Reads a header segment by segment, up to the first scan.
class HeaderReader {
 public:
  explicit HeaderReader(Bytes file) : segments_(file) {}

  void read(JpegHeader& header) {
    bool ordinary = true;
    try {
      while (segments_.next() && segments_.marker != kScan) {
        const bool usual = read_segment(header, ordinary);
        ordinary = ordinary && usual && segments_.exact;
      }
      if (segments_.marker == kScan && header.frame) read_scan(header, ordinary && segments_.exact);
    } catch (const Error&) {  // after the frame: whoever decodes will report it
      if (!header.frame) throw;
    }
  }

 private:
  bool read_segment(JpegHeader& header, bool ordinary) {
    const Bytes content = segments_.content;
    if (segments_.marker == kJpegLsFrame) refuse("expected JPEG, got JPEG-LS, which avida does not read");
    if (is_frame(segments_.marker)) return !header.frame && read_frame(header);
    if (segments_.marker == kExif && !header.frame && !oriented_ && has_text(content, 0, "Exif")) {
      header.orientation = exif_orientation(content);
      oriented_ = true;
    }
    return ordinary && read_ordinary(header, segments_.marker, content);
  }

  bool read_frame(JpegHeader& header) {
    const Bytes content = segments_.content;
    header.precision = static_cast<int>(big_endian(content, 0, 1));
    header.height = static_cast<int>(big_endian(content, 1, 2));
    header.width = static_cast<int>(big_endian(content, 3, 2));
    header.components = static_cast<int>(big_endian(content, 5, 1));
    header.frame = segments_.marker;
    return read_components(header, content);
  }

  void read_scan(JpegHeader& header, bool ordinary) {
    header.scan = segments_.content;
    header.data = segments_.rest();
    header.ordinary = ordinary;
    header.one_scan = header.ordinary && !header.is_progressive() && read_whole_scan(header);
    count_scans(header);
  }

  void count_scans(JpegHeader& header) {
    const bool progressive = (header.frame & 3) == 2;
    const auto is_last = [&] {  // the only one, or one that has what was missing
      return !progressive && static_cast<int>(big_endian(segments_.content, 0, 1)) == header.components;
    };
    for (header.scans = 1; !is_last(); header.scans++) do {
        if (!segments_.next()) return;
      } while (segments_.marker != kScan);
  }

  Segments segments_;
  bool oriented_ = false;
};

}  // namespace

// A profile is cut into segments, which are numbered.
std::string jpeg_profile(Bytes file) {
  using namespace std::string_view_literals;
  constexpr std::string_view kBegin = "ICC_PROFILE\0"sv;
  constexpr size_t kHead = kBegin.size() + 2;
  std::vector<uint8_t> profile;
  try {
    for (Segments segments(file); segments.next() && segments.marker != kScan;)
      if (segments.marker == kProfile && has_text(segments.content, 0, kBegin) && segments.content.size() > kHead)
        profile.insert(profile.end(), segments.content.begin() + kHead, segments.content.end());
  } catch (const Error&) {  // the file ends: what there is may have a name
  }
  return profile_name(profile);
}

bool JpegHeader::is_complete() const {
  for (int c = 0; c < components; c++)
    if (!has_quantization[component[c].quantization]) return false;
  const auto& [a, b, c] = component;
  return components == 1 || (a.id != b.id && b.id != c.id && c.id != a.id);
}

bool JpegHeader::is_ycbcr() const {
  const auto& [a, b, c] = component;
  const bool rgb = adobe ? adobe_rgb : a.id == 'R' && b.id == 'G' && c.id == 'B';
  return components == 3 && (jfif || !rgb);
}

JpegHeader read_jpeg_header(Bytes file) {
  headers_read.fetch_add(1, std::memory_order_relaxed);
  JpegHeader header;
  HeaderReader(file).read(header);
  if (!header.frame) refuse("expected a JPEG image, got a file without a frame header");
  check_extents(header.height, header.width, header.components);
  return header;
}

bool read_next_scan(JpegHeader& header, Bytes rest) {
  Segments segments(rest, 0);
  try {
    while (segments.next() && segments.exact) {
      if (segments.marker == kScan) {
        header.scan = segments.content;
        header.data = segments.rest();
        return true;
      }
      const bool usual =
          segments.marker == kHuffmanTables ? read_codes(header, segments.content) : is_remark(segments.marker);
      if (!usual) return false;
    }
  } catch (const Error&) {  // the file is truncated
  }
  return false;
}

int64_t jpeg_headers_read() { return headers_read.load(std::memory_order_relaxed); }

}  // namespace avida::codecs
