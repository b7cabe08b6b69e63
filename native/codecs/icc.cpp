#include "codecs/icc.h"

#include <algorithm>

#include "codecs/bytes.h"

namespace avida::codecs {
namespace {

constexpr size_t kTags = 128, kMostTags = 200;

// Of what UTF-16 holds, the characters of one unit.
std::string utf8_of(Bytes units) {
  std::string text;
  for (size_t i = 0; i + 2 <= units.size(); i += 2) {
    const uint32_t unit = big_endian(units, i, 2);
    if (unit == 0) break;
    if (unit < 0x80) {
      text += static_cast<char>(unit);
    } else if (unit < 0x800) {
      text += {static_cast<char>(0xC0 | unit >> 6), static_cast<char>(0x80 | (unit & 63))};
    } else if (unit < 0xD800 || unit > 0xDFFF) {
      text += {static_cast<char>(0xE0 | unit >> 12), static_cast<char>(0x80 | (unit >> 6 & 63)),
               static_cast<char>(0x80 | (unit & 63))};
    }
  }
  return text;
}

std::string ascii_of(Bytes bytes) {
  std::string text;
  for (uint8_t byte : bytes) {
    if (!byte) break;
    text += byte >= ' ' && byte <= '~' ? static_cast<char>(byte) : '?';
  }
  return text;
}

// Version 2 has a text of ASCII, version 4 texts in several languages, of which the first one is taken.
std::string description(Bytes tag) {
  if (has_text(tag, 0, "desc")) return ascii_of(part(tag, 12, big_endian(tag, 8, 4)));
  if (!has_text(tag, 0, "mluc") || !big_endian(tag, 8, 4)) return "";
  return utf8_of(part(tag, big_endian(tag, 24, 4), big_endian(tag, 20, 4)));
}

std::string find_name(Bytes profile) {
  const size_t count = std::min<size_t>(big_endian(profile, kTags, 4), kMostTags);
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = kTags + 4 + 12 * i;
    if (has_text(profile, entry, "desc"))
      return description(part(profile, big_endian(profile, entry + 4, 4), big_endian(profile, entry + 8, 4)));
  }
  return "";
}

}  // namespace

std::string profile_name(Bytes profile) {
  try {
    return find_name(profile);
  } catch (const Error&) {  // something lies beyond the end
    return "";
  }
}

}  // namespace avida::codecs
