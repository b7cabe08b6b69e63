// Swaps the byte order of numbers.
#pragma once
#include <cstdint>

namespace avida {

// Reverses the bytes of each of `n` elements of 1, 2, 4 or 8 bytes.
inline void swap_bytes(void* data, int64_t n, int size) {
  auto swap = [&](auto* elements, auto reversed) {
    for (int64_t i = 0; i < n; i++) elements[i] = reversed(elements[i]);
  };
  if (size == 2) swap(static_cast<uint16_t*>(data), [](uint16_t x) { return __builtin_bswap16(x); });
  if (size == 4) swap(static_cast<uint32_t*>(data), [](uint32_t x) { return __builtin_bswap32(x); });
  if (size == 8) swap(static_cast<uint64_t*>(data), [](uint64_t x) { return __builtin_bswap64(x); });
}

}  // namespace avida
