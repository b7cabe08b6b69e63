#include "codecs/exif.h"

#include "codecs/bytes.h"

namespace avida::codecs {
namespace {

constexpr uint32_t kOrientation = 0x0112, kShort = 3, kEntryBytes = 12;

int find_orientation(Bytes tiff) {
  bool little = has_text(tiff, 0, "II");
  if (!little && !has_text(tiff, 0, "MM")) return 1;
  auto number = [&](size_t at, int size) {
    return little ? little_endian(tiff, at, size) : big_endian(tiff, at, size);
  };
  if (number(2, 2) != 42) return 1;
  size_t directory = number(4, 4);
  uint32_t entries = number(directory, 2);
  for (uint32_t i = 0; i < entries; i++) {
    size_t entry = directory + 2 + kEntryBytes * i;
    if (number(entry, 2) != kOrientation) continue;
    uint32_t value = number(entry + 2, 2) == kShort ? number(entry + 8, 2) : 1;
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace

int exif_orientation(Bytes exif) {
  using namespace std::string_view_literals;
  if (has_text(exif, 0, "Exif\0\0"sv)) exif = exif.subspan(6);
  try {
    return find_orientation(exif);
  } catch (const Error&) {  // an entry lies beyond the end of the data
    return 1;
  }
}

}  // namespace avida::codecs
