#include "core/crc32c.h"

#include <array>
#include <cstring>

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace avida {
namespace {

// A checksum here is a polynomial of 32 bits without the inversions at the beginning and the end.
constexpr uint32_t kPolynomial = 0x82F63B78;

constexpr uint32_t times_x(uint32_t crc) { return crc >> 1 ^ (crc & 1 ? kPolynomial : 0); }

using Table = std::array<uint32_t, 256>;

constexpr Table byte_table() {
  Table table{};
  for (uint32_t i = 0; i < 256; i++) {
    table[i] = i;
    for (int bit = 0; bit < 8; bit++) table[i] = times_x(table[i]);
  }
  return table;
}

#if defined(__SSE4_2__) || defined(__ARM_FEATURE_CRC32)

uint32_t add_word(uint32_t crc, const char* at) {
  uint64_t word;
  std::memcpy(&word, at, 8);
#if defined(__SSE4_2__)
  return static_cast<uint32_t>(_mm_crc32_u64(crc, word));
#else
  return __crc32cd(crc, word);
#endif
}

#else

// Eight tables: the contribution of a byte to the checksum if 0 to 7 bytes follow it (slicing by 8).
constexpr std::array<Table, 8> word_tables() {
  std::array<Table, 8> tables{byte_table()};
  for (size_t k = 1; k < 8; k++)
    for (size_t i = 0; i < 256; i++) tables[k][i] = tables[0][tables[k - 1][i] & 255] ^ tables[k - 1][i] >> 8;
  return tables;
}

uint32_t add_word(uint32_t crc, const char* at) {
  static constexpr auto tables = word_tables();
  uint64_t word;
  std::memcpy(&word, at, 8);
  word ^= crc;
  uint32_t out = 0;
  for (size_t k = 0; k < 8; k++) out ^= tables[7 - k][word >> 8 * k & 255];
  return out;
}

#endif

// The instruction has a latency of three cycles and a throughput of one, so three stretches are processed in parallel.
// A stretch must be multiplied by x^(8 * kStretch) for each stretch that follows it: by tables, byte by byte.
constexpr int64_t kStretch = 1024;

constexpr std::array<Table, 4> shift_tables() {
  constexpr Table bytes = byte_table();
  std::array<uint32_t, 32> power{};  // what becomes of each bit: by one byte, then by two, by four, ...
  for (uint32_t bit = 0; bit < 32; bit++) power[bit] = bytes[(1u << bit) & 255] ^ (1u << bit) >> 8;
  for (int64_t count = 1; count < kStretch; count *= 2) {
    std::array<uint32_t, 32> twice{};
    for (int bit = 0; bit < 32; bit++)
      for (int k = 0; k < 32; k++)
        if (power[bit] >> k & 1) twice[bit] ^= power[k];
    power = twice;
  }
  std::array<Table, 4> tables{};
  for (int k = 0; k < 4; k++)
    for (uint32_t i = 0; i < 256; i++)
      for (int bit = 0; bit < 8; bit++)
        if (i >> bit & 1) tables[k][i] ^= power[8 * k + bit];
  return tables;
}

uint32_t shift(uint32_t crc) {
  static constexpr auto tables = shift_tables();
  return tables[0][crc & 255] ^ tables[1][crc >> 8 & 255] ^ tables[2][crc >> 16 & 255] ^ tables[3][crc >> 24];
}

}  // namespace

uint32_t crc32c(const void* data, int64_t bytes, uint32_t before) {
  static constexpr Table table = byte_table();
  auto at = static_cast<const char*>(data);
  uint32_t crc = ~before;
  for (; bytes >= 3 * kStretch; at += 3 * kStretch, bytes -= 3 * kStretch) {
    uint32_t second = 0, third = 0;
    for (int64_t i = 0; i < kStretch; i += 8) {
      crc = add_word(crc, at + i);
      second = add_word(second, at + kStretch + i);
      third = add_word(third, at + 2 * kStretch + i);
    }
    crc = shift(shift(crc) ^ second) ^ third;
  }
  for (; bytes >= 8; at += 8, bytes -= 8) crc = add_word(crc, at);
  for (; bytes > 0; at++, bytes--) crc = table[(crc ^ static_cast<uint8_t>(*at)) & 255] ^ crc >> 8;
  return ~crc;
}

}  // namespace avida
