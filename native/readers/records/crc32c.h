// CRC-32C (Castagnoli), the checksum of TFRecord files.
#pragma once
#include <cstdint>

namespace avida {

// Of data that come in several parts, with the checksum of those before.
uint32_t crc32c(const void* data, int64_t bytes, uint32_t before = 0);

}  // namespace avida
