// Huffman decoding of the blocks of a sequential JPEG scan. Compiled for each instruction set.
#pragma once
#include <bit>
#include <cstring>

#include "codecs/jpeg/huffman_lookup.h"
#include "codecs/jpeg/scan_bytes.h"

namespace avida::codecs {

// Blocks lie in groups of four neighbours whose rows are interleaved, so that vectors of any length load whole.
constexpr int kGroup = 4, kGroupSize = 64 * kGroup;

// Where the coefficients of a block are stored, by the number of coefficients read so far. What is no coefficient, as
// an end of block or one past the end, goes to the place of the first coefficient, which is written last.
struct StoreOrder {
  uint8_t at[AcLookup::kEndOfBlock + 64];
  constexpr StoreOrder() : at{} {
    constexpr uint8_t zigzag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
    for (int k = 0; k < 64; k++)
      at[k + 1] = at[k + 1 + AcLookup::kLast] = static_cast<uint8_t>(zigzag[k] / 8 * 8 * kGroup + zigzag[k] % 8);
  }
};
inline constexpr StoreOrder kStoreOrder;

// The next bits of a scan, from the highest of a word on.
struct BitReader {
  const uint8_t* at;  // the byte after the `count` bits in `bits`
  uint64_t bits = 0;
  unsigned count = 0;

  // At least 56 bits are there afterwards.
  void refill() {
    uint64_t next;
    std::memcpy(&next, at, 8);
    if constexpr (std::endian::native == std::endian::little) next = __builtin_bswap64(next);
    bits |= next >> count;
    at += (63 - count) >> 3;
    count |= 56;
  }
  void skip(unsigned n) {
    bits <<= n & 63;
    count -= n & 63;
  }
  void put_back(unsigned code, unsigned n) {
    bits = bits >> n | static_cast<uint64_t>(code) << (64 - n);
    count += n;
  }
  // How many bits from `begin` on have been read.
  uint32_t position(const uint8_t* begin) const { return static_cast<uint32_t>(8 * (at - begin)) - count; }
  static BitReader at_position(const uint8_t* begin, uint32_t position) {
    BitReader reader{begin + position / 8};
    reader.refill();
    reader.skip(position % 8);
    return reader;
  }
  // A value of `size` bits, 0 to 15, as JPEG codes it: the first bit is 0 for a negative one.
  int value(unsigned size) const {
    const int high = static_cast<int>(bits >> 1 >> (63 - size));
    const int negative = static_cast<int>(~bits >> 63);
    return high - (negative << size) + negative;
  }
};

// A code whose value is not in the table; the reader has been refilled. Returns its entry, with `kEndOfBlock` for one
// that ends the block; 0 if there is no such code.
inline uint32_t read_slowly(BitReader& reader, const AcLookup& ac, uint32_t entry) {
  int length = static_cast<int>(entry >> 24), symbol = static_cast<int>(entry >> 16 & 255);
  if (!entry) {
    const LongCodes::Found found = ac.long_codes.find(static_cast<int>(reader.bits >> 48));
    if (!found.length) return 0;
    length = found.length;
    symbol = found.symbol;
  }
  const unsigned size = symbol & 15, run = static_cast<unsigned>(symbol) >> 4;
  reader.skip(static_cast<unsigned>(length));
  const int value = reader.value(size);
  reader.skip(size);
  return AcLookup::entry(1, !size && run != 15 ? AcLookup::kEndOfBlock : run + 1, value);
}

// The DC coefficient of a block, at its beginning. Returns false for a code that is not in the table.
__attribute__((always_inline)) inline bool read_dc(BitReader& reader, const DcLookup& dc, int16_t& predicted) {
  reader.refill();
  unsigned entry = dc.entries[reader.bits >> (64 - DcLookup::kBits)];
  if (__builtin_expect(!entry, 0)) {
    const LongCodes::Found found = dc.long_codes.find(static_cast<int>(reader.bits >> 48));
    if (!found.length) return false;
    entry = static_cast<unsigned>((found.length + found.symbol) | found.length << 8);
  }
  const unsigned length = entry >> 8, size = (entry & 255) - length;
  reader.skip(length);
  predicted = static_cast<int16_t>(predicted + reader.value(size));  // wraps as libjpeg's do
  reader.skip(size);
  return true;
}

// Reads a block and returns the index of its last coefficient, in zigzag order, or -1 for a code that is not in the
// table or a run past the end. Calls put(at, value) for each coefficient but the first, with its place in StoreOrder,
// and for codes without one, with the place of the first.
template <class Put>
__attribute__((always_inline)) inline int read_block(BitReader& reader, const DcLookup& dc, const AcLookup& ac,
                                                     int16_t& predicted, Put&& put) {
  if (!read_dc(reader, dc, predicted)) return -1;
  constexpr int kPerRefill = 56 / AcLookup::kBits;
  unsigned k = 1;
  while (true) {
    reader.refill();
#pragma GCC unroll 8
    for (int i = 0; i < kPerRefill; i++) {
      uint32_t found = ac.entries[reader.bits >> (64 - AcLookup::kBits)];
      const bool slow = !(found & 63);
      if (__builtin_expect(slow, 0)) {
        reader.refill();
        found = read_slowly(reader, ac, found);
        if (!found) return -1;
      } else {
        reader.skip(found);
      }
      k += found >> AcLookup::kAdvance & 1023;
      put(kStoreOrder.at[k], static_cast<int16_t>(found >> 16));
      if (k >= 64) goto done;
      if (slow) break;
    }
  }
done:
  if (k >= AcLookup::kEndOfBlock) return static_cast<int>(k - AcLookup::kEndOfBlock) - 1;
  if (k >= AcLookup::kLast) {
    k -= AcLookup::kLast;
    if (k == 64) reader.put_back(ac.end_code, ac.end_length);  // a full block has no end of block
  }
  return k <= 64 ? static_cast<int>(k) - 1 : -1;
}

// Reads a block that is not needed, but for its DC coefficient. Returns false where read_block() returns -1.
__attribute__((always_inline)) inline bool skip_block(BitReader& reader, const DcLookup& dc, const AcLookup& ac,
                                                      const AcSkip& skip, int16_t& predicted) {
  if (!read_dc(reader, dc, predicted)) return false;
  constexpr int kPerRefill = 56 / AcSkip::kBits;
  unsigned k = 1;
  while (true) {
    reader.refill();
#pragma GCC unroll 8
    for (int i = 0; i < kPerRefill; i++) {
      const unsigned several = skip.entries[reader.bits >> (64 - AcSkip::kBits)];
      const unsigned next = k + (several >> AcSkip::kAdvance & 127);
      if (__builtin_expect(!several || next > 63, 0)) {  // one by one: the block may end in between
        reader.refill();
        uint32_t found = ac.entries[reader.bits >> (64 - AcLookup::kBits)];
        if (found & 63)
          reader.skip(found);
        else
          found = read_slowly(reader, ac, found);
        if (!found) return false;
        k += found >> AcLookup::kAdvance & 1023;
        if (k >= 64) goto done;
        break;
      }
      reader.skip(several & 31);
      k = next;
      if (several & AcSkip::kEnd) return true;
    }
  }
done:
  if (k >= AcLookup::kEndOfBlock) return true;
  if (k >= AcLookup::kLast) {
    k -= AcLookup::kLast;
    if (k == 64) reader.put_back(ac.end_code, ac.end_length);
  }
  return k <= 64;
}

}  // namespace avida::codecs
