// CRC-32C (Castagnoli), the checksum of TFRecord files.
#pragma once
#include <cstdint>

namespace avida {

uint32_t crc32c(const void* data, int64_t bytes);

}  // namespace avida
