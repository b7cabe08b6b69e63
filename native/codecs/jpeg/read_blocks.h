// Huffman decoding of the blocks of a JPEG scan: whole ones, or a band of their coefficients. Compiled for each
// instruction set.
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

// ---- Progressive scans: a band of AC coefficients, at first or one bit more -----------------------------------------

// One entry gives run, size and value of an AC coefficient, or of a run of ended blocks.
class BandLookup {
 public:
  static constexpr int kBits = 10;
  static constexpr unsigned kEnds = 64;  // is added to the run where blocks end
  struct Entry {
    uint8_t bits;  // of code and value
    uint8_t run;   // zeros before the coefficient
    int16_t value;
  };

  void make(const HuffmanCode& code) {
    long_codes_ = LongCodes(code);
    for (unsigned i = 0; i < 1 << kBits; i++) {
      const LongCodes::Found found = long_codes_.find(static_cast<int>(i << (16 - kBits)));
      const int size = found.symbol & 15, length = found.length + size;
      entries_[i] = {};
      if (!found.length || length > kBits) continue;
      const int value = size ? static_cast<int>(i >> (kBits - length)) & ((1 << size) - 1) : 0;
      entries_[i] = entry(length, found.symbol, size && !(value >> (size - 1)) ? value - (1 << size) + 1 : value);
    }
  }

  // Reads a code and its value: in the table, they have at most kBits. Returns false for a code that is not in the
  // table.
  bool read(BitReader& reader, Entry& found) const {
    found = entries_[reader.bits >> (64 - kBits)];
    reader.skip(found.bits);
    return found.bits || read_slowly(reader, found);
  }

 private:
  static Entry entry(int bits, int symbol, int value) {
    const int run = symbol >> 4, ends = !(symbol & 15) && run != 15 ? static_cast<int>(kEnds) : 0;
    return {static_cast<uint8_t>(bits), static_cast<uint8_t>(run + ends), static_cast<int16_t>(value)};
  }
  bool read_slowly(BitReader& reader, Entry& found) const {
    reader.refill();
    const LongCodes::Found code = long_codes_.find(static_cast<int>(reader.bits >> 48));
    if (!code.length) return false;
    reader.skip(static_cast<unsigned>(code.length));
    const unsigned size = code.symbol & 15;
    found = entry(code.length, code.symbol, reader.value(size));
    reader.skip(size);
    return true;
  }

  Entry entries_[1 << kBits];
  LongCodes long_codes_;
};

// What a scan adds to the coefficients of a component.
struct Band {
  int first, last;  // coefficients
  int high, low;    // bits: those that are known before start at `high`, or none (0), those afterwards at `low`
};

// Where a thread is in a scan.
struct BandState {
  BitReader reader;
  unsigned ended = 0;  // blocks that have no more codes
};

// How blocks and their coefficients lie in memory.
struct BlockLayout {
  int group_bits;  // of neighbouring blocks, 1 << group_bits are a group whose rows of eight are interleaved
  uint8_t at[64];  // the place of each coefficient, from the beginning of the block on, in zigzag order
};
// As in BlockRow, and one block after the other in the order of files.
inline constexpr BlockLayout kGroupedLayout = [] {
  BlockLayout layout{std::countr_zero(unsigned{kGroup}), {}};
  for (int k = 0; k < 64; k++) layout.at[k] = kStoreOrder.at[k + 1];
  return layout;
}();
inline constexpr BlockLayout kZigzagLayout = [] {
  BlockLayout layout{};
  for (int k = 0; k < 64; k++) layout.at[k] = static_cast<uint8_t>(k);
  return layout;
}();

// The coefficients of a component.
struct CoefficientPlane {
  const BlockLayout* layout;
  int columns, rows;  // of blocks, with those that fill up MCUs, and columns with those that fill up groups
  int16_t* coefficients;
  uint8_t* last;      // of each block: the index of its last coefficient, in zigzag order
  uint64_t* present;  // of each block: a bit for each AC coefficient that is not zero, in zigzag order

  int64_t blocks() const { return int64_t{columns} * rows; }
  int16_t* block(int64_t i) const {
    const int bits = layout->group_bits;
    return coefficients + (i >> bits << (6 + bits)) + (i & ((1 << bits) - 1)) * 8;
  }
};

__attribute__((always_inline)) inline void read_ended(BandState& state, unsigned size) {
  state.reader.refill();
  state.ended = (1u << size) + (size ? static_cast<unsigned>(state.reader.bits >> (64 - size)) : 0);
  state.reader.skip(size);
}

// The first bits of the coefficients of a block. Returns false for codes that an ordinary file does not have.
__attribute__((always_inline)) inline bool read_first_bits(BandState& state, const Band& band, const BandLookup& ac,
                                                           const BlockLayout& layout, int16_t* block,
                                                           uint64_t& present) {
  if (state.ended) return state.ended--, true;
  uint64_t made = 0;
  const auto last = static_cast<unsigned>(band.last);
  for (auto k = static_cast<unsigned>(band.first); k <= last;) {
    state.reader.refill();
    for (; k <= last && state.reader.count >= BandLookup::kBits; k++) {
      BandLookup::Entry found;
      if (!ac.read(state.reader, found)) return false;
      if (found.run >= BandLookup::kEnds) {
        read_ended(state, found.run - BandLookup::kEnds);
        state.ended--;
        present |= made;
        return true;
      }
      k += found.run;
      if (k > last) return false;
      const auto value = static_cast<int16_t>(found.value * (1 << band.low));
      if (value >> band.low != found.value) return false;
      if (!value) continue;
      block[layout.at[k]] = value;
      made |= uint64_t{1} << k;
    }
  }
  present |= made;
  return true;
}

// The bits in the opposite order.
__attribute__((always_inline)) inline uint64_t turned(uint64_t bits) {
  bits = __builtin_bswap64(bits);
  bits = (bits >> 4 & 0x0F0F0F0F0F0F0F0F) | (bits & 0x0F0F0F0F0F0F0F0F) << 4;
  bits = (bits >> 2 & 0x3333333333333333) | (bits & 0x3333333333333333) << 2;
  return (bits >> 1 & 0x5555555555555555) | (bits & 0x5555555555555555) << 1;
}

// Reads a bit for each coefficient of `which`, and returns those for which it is 1. At least kBitsThere bits are there.
constexpr int kBitsThere = 56 - 17;  // after a code and its bit
template <class Deposit>
__attribute__((always_inline)) inline uint64_t read_bits(BitReader& reader, uint64_t which, const Deposit& deposit) {
  const int n = std::popcount(which);
  uint64_t made = 0;
  if (__builtin_expect(n > kBitsThere, 0)) {
    const uint64_t low = which & 0xFFFFFFFF;
    reader.refill();
    made = deposit(turned(reader.bits), low);
    reader.skip(static_cast<unsigned>(std::popcount(low)));
    reader.refill();
    which ^= low;
  }
  // The first bit is the highest of the reader's, and belongs to the lowest of the coefficients.
  made |= deposit(turned(reader.bits), which);
  reader.skip(static_cast<unsigned>(std::popcount(which)));
  return made;
}

// One more bit of the coefficients of a block. deposit(bits, mask) places the lowest bits where the mask has ones.
template <class Deposit>
__attribute__((always_inline)) inline bool read_next_bits(BandState& state, const Band& band, const BandLookup& ac,
                                                          const BlockLayout& layout, int16_t* block, uint64_t& present,
                                                          const Deposit& deposit) {
  const int one = 1 << band.low;
  const uint64_t before = present;
  uint64_t rest = ~uint64_t{0} >> (63 - band.last) & ~uint64_t{0} << band.first;  // of the coefficients
  uint64_t ones = 0;
  while (!state.ended && rest) {
    state.reader.refill();
    BandLookup::Entry found;
    if (!ac.read(state.reader, found)) return false;
    if (found.run >= BandLookup::kEnds) {
      read_ended(state, found.run - BandLookup::kEnds);
      break;
    }
    if (found.value < -1 || found.value > 1) return false;
    const uint64_t zero = deposit(uint64_t{1} << found.run, rest & ~before);  // after `run` others, if there is one
    const uint64_t passed = rest & (zero - 1);
    ones |= read_bits(state.reader, passed & before, deposit);
    if (found.value) {
      if (!zero) return false;
      block[layout.at[std::countr_zero(zero)]] = static_cast<int16_t>(found.value * one);
      present |= zero;
    }
    rest &= ~(passed | zero);
  }
  if (state.ended) {
    state.ended--;
    state.reader.refill();
    ones |= read_bits(state.reader, rest & before, deposit);
  }
  for (; ones; ones &= ones - 1) {
    int16_t& coefficient = block[layout.at[std::countr_zero(ones)]];
    if (!(coefficient & one)) coefficient = static_cast<int16_t>(coefficient + (coefficient >= 0 ? one : -one));
  }
  return true;
}

}  // namespace avida::codecs
