// Reads integers from the bytes of a file. Reading past the end is an error, never a crash.
#pragma once
#include <cstring>
#include <string_view>

#include "codecs/codec.h"

namespace avida::codecs {

inline Bytes part(Bytes file, size_t at, size_t size) {
  if (at > file.size() || size > file.size() - at)
    refuse("expected ", size, " bytes at byte ", at, ", the file ends at byte ", file.size());
  return file.subspan(at, size);
}

inline uint32_t big_endian(Bytes file, size_t at, int size) {
  uint32_t value = 0;
  for (uint8_t byte : part(file, at, size)) value = value << 8 | byte;
  return value;
}

inline uint32_t little_endian(Bytes file, size_t at, int size) {
  uint32_t value = 0;
  for (int i = 0; uint8_t byte : part(file, at, size)) value |= static_cast<uint32_t>(byte) << 8 * i++;
  return value;
}

inline bool has_text(Bytes file, size_t at, std::string_view text) {
  return at + text.size() <= file.size() && !std::memcmp(file.data() + at, text.data(), text.size());
}

}  // namespace avida::codecs
