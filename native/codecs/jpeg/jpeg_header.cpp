#include "codecs/jpeg/jpeg_header.h"

#include <algorithm>

#include "codecs/bytes.h"
#include "codecs/exif.h"

namespace avida::codecs {
namespace {

constexpr int kScan = 0xDA, kEnd = 0xD9;

// Calls fn(marker, segment) for each marker up to the first scan, or of all scans, until fn returns true.
template <class Fn>
void visit_segments(Bytes file, Fn&& fn, bool all_scans = false) {
  size_t at = 2;
  while (true) {
    // Bytes between segments are skipped, as all decoders do; so is the data of scans, where 0xFF is followed by 0.
    const Bytes rest = part(file, at, file.size() - std::min(at, file.size()));
    const void* found = rest.empty() ? nullptr : std::memchr(rest.data(), 0xFF, rest.size());
    at = found ? static_cast<const uint8_t*>(found) - file.data() : file.size();
    while (big_endian(file, at, 1) == 0xFF) at++;  // a marker may be preceded by fill bytes of 0xFF
    int marker = file[at++];
    bool alone = marker == 0 || marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8);
    if (alone) continue;
    if (marker == kEnd) return;
    uint32_t size = big_endian(file, at, 2);
    if (size < 2) refuse("expected a segment of at least 2 bytes at byte ", at, ", got ", size);
    if (fn(marker, part(file, at + 2, size - 2)) || (marker == kScan && !all_scans)) return;
    at += size;
  }
}

bool is_frame(int marker) {
  bool table = marker == 0xC4 || marker == 0xC8 || marker == 0xCC;
  return marker >= 0xC0 && marker <= 0xCF && !table;
}

}  // namespace

bool is_jpeg(Bytes file) { return file.size() >= 3 && file[0] == 0xFF && file[1] == 0xD8 && file[2] == 0xFF; }

int jpeg_frame(Bytes file) {
  int frame = 0;
  try {
    visit_segments(file, [&](int marker, Bytes) { return is_frame(marker) && (frame = marker); });
  } catch (const Error&) {  // the file is truncated: reading the rest will report it
  }
  return frame;
}

JpegHeader read_jpeg_header(Bytes file) {
  JpegHeader header;
  bool oriented = false, framed = false;
  auto read = [&](int marker, Bytes segment) {
    if (marker == kScan) header.scan_components = static_cast<int>(big_endian(segment, 0, 1));
    if (framed) return false;
    if (marker == 0xE1 && !oriented && has_text(segment, 0, "Exif")) {
      header.orientation = exif_orientation(segment);
      oriented = true;
    }
    if (!is_frame(marker)) return false;
    header.frame = marker;
    header.precision = static_cast<int>(big_endian(segment, 0, 1));
    header.height = static_cast<int>(big_endian(segment, 1, 2));
    header.width = static_cast<int>(big_endian(segment, 3, 2));
    header.components = static_cast<int>(big_endian(segment, 5, 1));
    framed = true;
    return false;
  };
  try {
    visit_segments(file, read);
  } catch (const Error&) {  // after the frame: whoever decodes will report it
    if (!framed) throw;
  }
  if (!header.frame) refuse("expected a JPEG image, got a file without a frame header");
  check_extents(header.height, header.width, header.components);
  return header;
}

int64_t count_jpeg_scans(Bytes file, const JpegHeader& header) {
  const bool progressive = (header.frame & 3) == 2;
  if (!progressive && header.scan_components == header.components) return 1;  // it is the only one
  int64_t scans = 0;
  try {
    const auto count = [&](int marker, Bytes segment) {
      if (marker != kScan) return false;
      scans++;
      return !progressive && static_cast<int>(big_endian(segment, 0, 1)) == header.components;
    };
    visit_segments(file, count, true);
  } catch (const Error&) {  // the file is truncated: decoding will report it
  }
  return scans;
}

}  // namespace avida::codecs
