#include "codecs/jpeg_header.h"

#include "codecs/bytes.h"
#include "codecs/exif.h"

namespace avida::codecs {
namespace {

constexpr int kScan = 0xDA, kEnd = 0xD9;

// Calls fn(marker, segment) for each marker up to that of the first scan, until fn returns true.
template <class Fn>
void visit_segments(Bytes file, Fn&& fn) {
  size_t at = 2;
  while (true) {
    while (big_endian(file, at, 1) != 0xFF) at++;  // bytes between segments are skipped, as all decoders do
    while (big_endian(file, at, 1) == 0xFF) at++;  // a marker may be filled up with 0xFF
    int marker = file[at++];
    bool alone = marker == 0 || marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8);
    if (alone) continue;
    if (marker == kEnd) return;
    uint32_t size = big_endian(file, at, 2);
    if (size < 2) fail(ErrorKind::runtime, "expected a segment of at least 2 bytes at byte ", at, ", got ", size);
    if (fn(marker, part(file, at + 2, size - 2)) || marker == kScan) return;
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
  } catch (const Error&) {  // the file ends early: whoever reads on will say so
  }
  return frame;
}

JpegHeader read_jpeg_header(Bytes file) {
  JpegHeader header;
  bool oriented = false;
  visit_segments(file, [&](int marker, Bytes segment) {
    if (marker == 0xE1 && !oriented && has_text(segment, 0, "Exif")) {
      header.orientation = exif_orientation(segment);
      oriented = true;
    }
    if (!is_frame(marker) || header.frame) return false;
    header.frame = marker;
    header.precision = static_cast<int>(big_endian(segment, 0, 1));
    header.height = static_cast<int>(big_endian(segment, 1, 2));
    header.width = static_cast<int>(big_endian(segment, 3, 2));
    header.components = static_cast<int>(big_endian(segment, 5, 1));
    return true;
  });
  if (!header.frame) fail(ErrorKind::runtime, "expected a JPEG image, got a file without a frame");
  check_extents(header.height, header.width, header.components);
  return header;
}

std::optional<JpegSampling> jpeg_sampling(Bytes file) {
  bool jfif = false, adobe = false, adobe_rgb = false, three = false;
  uint32_t id[3], columns[3], rows[3], scanned = 0;
  try {
    visit_segments(file, [&](int marker, Bytes segment) {
      if (marker == 0xE0 && segment.size() >= 14 && has_text(segment, 0, {"JFIF", 5})) jfif = true;
      if (marker == 0xEE && segment.size() >= 12 && has_text(segment, 0, "Adobe")) {
        adobe = true;
        adobe_rgb = segment[11] == 0;
      }
      if (marker == kScan) scanned = big_endian(segment, 0, 1);
      if (!is_frame(marker)) return false;
      three = big_endian(segment, 5, 1) == 3;
      for (size_t c = 0; c < 3 && three; c++) {
        id[c] = big_endian(segment, 6 + 3 * c, 1);
        columns[c] = big_endian(segment, 7 + 3 * c, 1) >> 4;
        rows[c] = big_endian(segment, 7 + 3 * c, 1) & 15;
      }
      return false;
    });
  } catch (const Error&) {  // whoever decodes will say so
    return {};
  }
  // What the colours are is told as libjpeg tells it.
  const bool rgb = !jfif && (adobe ? adobe_rgb : three && id[0] == 'R' && id[1] == 'G' && id[2] == 'B');
  if (!three || !scanned || rgb || columns[1] != columns[2] || rows[1] != rows[2] || columns[0] == 0 || rows[0] == 0 ||
      columns[1] == 0 || rows[1] == 0 || columns[0] % columns[1] || rows[0] % rows[1])
    return {};
  return JpegSampling{static_cast<int>(columns[0] / columns[1]), static_cast<int>(rows[0] / rows[1]), scanned == 3};
}

}  // namespace avida::codecs
