// CRC-32C (Castagnoli), the checksum of TFRecord files and of what caches keep.
#pragma once
#include <cstdint>

namespace avida {

// For data in several parts: `before` is the checksum of the previous parts.
uint32_t crc32c(const void* data, int64_t bytes, uint32_t before = 0);

}  // namespace avida
