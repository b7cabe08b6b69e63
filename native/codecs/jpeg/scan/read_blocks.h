// Huffman decoding of the blocks of a JPEG scan: whole ones, or a band of their coefficients. Compiled for each
// instruction set.
#pragma once
#include <bit>
#include <cstring>

#include "codecs/jpeg/block_groups.h"
#include "codecs/jpeg/scan/huffman_lookup.h"
#include "codecs/jpeg/scan/scan_bytes.h"

namespace avida::codecs {

// Where the coefficients of a block are stored, by the number of coefficients read so far. Codes without a coefficient
// store a zero at a place that is zero: an end of block at the one that would follow.
struct StoreOrder {
  uint8_t at[CodeLookup::kEndOfBlock + 64];
  constexpr StoreOrder() : at{} {
    constexpr uint8_t zigzag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
    for (int k = 0; k < 64; k++)
      at[k + 1] = at[k + CodeLookup::kEndOfBlock] = static_cast<uint8_t>(zigzag[k] / 8 * 8 * kGroup + zigzag[k] % 8);
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
  // At most 63 bits; n may be an entry of CodeLookup, whose lowest byte says how many.
  void skip(unsigned n) {
    bits <<= n & 63;
    count -= n & 255;
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
  int value(unsigned size) const { return value_of(bits, 63 - size); }
  // The value that follows the code of an entry of CodeLookup.
  int value_after(uint32_t entry) const { return value_of(bits << (entry >> 8 & 63), entry >> 16 & 63); }

 private:
  static int value_of(uint64_t from, unsigned shift) {
    const auto negative = static_cast<uint64_t>(~static_cast<int64_t>(from) >> 63);  // all ones, or 0
    return static_cast<int>((((from ^ negative) >> 1 >> shift) ^ negative) - negative);
  }
};

// What comes next, in a reader that was refilled; 0 for a code that is not in the table.
__attribute__((always_inline)) inline uint32_t find_code(const BitReader& reader, const CodeLookup& codes) {
  const uint32_t entry = codes.entries[reader.bits >> (64 - CodeLookup::kBits)];
  return __builtin_expect(entry != 0, 1) ? entry : codes.find(static_cast<int>(reader.bits >> 48));
}

// The DC coefficient of a block, at its beginning. Returns false for a code that is not in the table.
__attribute__((always_inline)) inline bool read_dc(BitReader& reader, const CodeLookup& dc, int16_t& predicted) {
  reader.refill();
  const uint32_t entry = find_code(reader, dc);
  if (!entry) return false;
  predicted = static_cast<int16_t>(predicted + reader.value_after(entry));  // wraps as libjpeg's do
  reader.skip(entry);
  return true;
}

// Reads a code that is not in the table's entries, but not its value. Returns an entry for the value alone; 0 if there
// is no such code.
__attribute__((always_inline)) inline uint32_t read_long_code(BitReader& reader, const CodeLookup& codes) {
  reader.refill();
  const uint32_t entry = codes.find(static_cast<int>(reader.bits >> 48));
  const uint32_t length = entry >> 8 & 255;
  reader.skip(length);
  reader.refill();
  return entry - (length | length << 8);
}

enum class Progress { block, end, failure };  // what follows

// Reads blocks one after the other, without a pause between them: the first code of a block is looked up in another
// table. Returns false for a code that is not in the table, a run past the end of a block, and failures of `blocks`,
// which has
//   dc, ac                   the tables of the present block
//   put(at, value)           called for each code, with the place of its coefficient in StoreOrder. The value of a DC
//                            coefficient is the difference to the one before
//   begin(reader)            begins the first block
//   next(reader, n, is_end)  ends a block, which has n coefficients, and begins the next one. is_end: the last code was
//                            an end of block. Must not leave fewer bits in the reader than it finds
template <class Blocks>
__attribute__((always_inline)) inline bool read_blocks(BitReader& reader, Blocks& blocks) {
  constexpr int kPerRefill = 56 / CodeLookup::kMostBits;
  Progress progress = blocks.begin(reader);
  if (progress != Progress::block) return progress == Progress::end;
  const CodeLookup* codes = blocks.dc;
  unsigned k = 0;
  while (true) {
    reader.refill();
    for (int i = 0; i < kPerRefill; i++) {
      uint32_t entry = codes->entries[reader.bits >> (64 - CodeLookup::kBits)];
      if (__builtin_expect(!entry, 0) && !(entry = read_long_code(reader, *codes))) return false;
      const int value = reader.value_after(entry);
      reader.skip(entry);
      k += entry >> 24;
      blocks.put(kStoreOrder.at[k], static_cast<int16_t>(value));
      codes = blocks.ac;
      if (k > 63) {
        const bool is_end = k >= CodeLookup::kEndOfBlock;
        if (is_end) k -= CodeLookup::kEndOfBlock;
        if (__builtin_expect(k > 64, 0)) return false;
        progress = blocks.next(reader, static_cast<int>(k), is_end);
        if (progress != Progress::block) return progress == Progress::end;
        codes = blocks.dc;
        k = 0;
      }
    }
  }
}

// Reads a block that is not needed, but for its DC coefficient. Returns false where read_blocks() does.
__attribute__((always_inline)) inline bool skip_block(BitReader& reader, const CodeLookup& dc, const CodeLookup& ac,
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
        const uint32_t entry = find_code(reader, ac);
        if (!entry) return false;
        reader.skip(entry);
        k += entry >> 24;
        if (k > 63) return k <= 64 || k >= CodeLookup::kEndOfBlock;
        break;
      }
      reader.skip(several & 31);
      k = next;
      if (several & AcSkip::kEnd) return true;
    }
  }
}

// One block of every MCU in a row of them.
struct BlockSlot {
  const CodeLookup* dc;
  const CodeLookup* ac;
  const AcSkip* skip;  // null if all blocks are needed
  int component;
  int16_t* coefficients;  // of a row of groups, all zero
  uint8_t* last;          // of each block: the index of its last coefficient, in zigzag order
  int step, offset;  // the columns of blocks in an MCU, and this one's column, relative to the first that is needed
  int columns;       // that are needed; the others are read and forgotten

  int column(int mcu) const { return mcu * step + offset; }
  // The block of an MCU; null if it is not needed.
  int16_t* find(int mcu) const {
    const auto at = static_cast<unsigned>(column(mcu));
    if (at >= static_cast<unsigned>(columns)) return nullptr;
    return coefficients + at / kGroup * kGroupSize + at % kGroup * 8;
  }
};

// Where a thread is in a scan.
struct ScanState {
  BitReader reader;
  int16_t predicted[3] = {};  // the DC coefficients of each component's block before
};

// The blocks of consecutive MCUs, in the order of the file.
class McuBlocks {
 public:
  McuBlocks(ScanBytes& bytes, int16_t* predicted, const BlockSlot* slots, int slot_count, int first, int count)
      : bytes_(bytes),
        safe_(bytes.safe_end()),
        predicted_(predicted),
        slots_(slots),
        slots_end_(slots + slot_count),
        slot_(slots),
        mcu_(first),
        end_(first + count) {}

  const CodeLookup *dc, *ac;

  void put(unsigned at, int16_t value) { block_[at] = value; }

  // Skips blocks that are not needed.
  __attribute__((always_inline)) Progress begin(BitReader& reader) {
    while (mcu_ < end_) {
      if (__builtin_expect(reader.at > safe_, 0)) {
        const uint8_t* at = reader.at;
        if (!bytes_.more(at)) return Progress::failure;
        reader.at = at;
        safe_ = bytes_.safe_end();
      }
      dc = slot_->dc;
      ac = slot_->ac;
      block_ = slot_->find(mcu_);
      if (__builtin_expect(block_ != nullptr, 1)) return Progress::block;
      if (!skip_block(reader, *dc, *ac, *slot_->skip, predicted_[slot_->component])) return Progress::failure;
      reader.refill();
      advance();
    }
    return Progress::end;
  }

  __attribute__((always_inline)) Progress next(BitReader& reader, int coefficients, bool) {
    int16_t& predicted = predicted_[slot_->component];
    block_[0] = predicted = static_cast<int16_t>(predicted + block_[0]);  // wraps as libjpeg's do
    slot_->last[slot_->column(mcu_)] = static_cast<uint8_t>(coefficients - 1);
    advance();
    return begin(reader);
  }

 private:
  void advance() {
    if (++slot_ < slots_end_) return;
    slot_ = slots_;
    mcu_++;
  }

  ScanBytes& bytes_;
  const uint8_t* safe_;
  int16_t* const predicted_;
  const BlockSlot *const slots_, *const slots_end_, *slot_;
  int mcu_;
  const int end_;
  int16_t* block_ = nullptr;
};

// Consecutive MCUs that were read before it was known where in the image they lie.
struct alignas(64) Recording {  // threads count at the same time
  struct Start {
    uint32_t position;  // in bits, from the beginning of the buffer
    uint32_t entry;
    int16_t predicted[3];
  };
  // For each block, an entry with the number of entries that follow, the index of the last coefficient and the DC
  // coefficient; then the coefficients, with their places in StoreOrder.
  static constexpr uint32_t entry(unsigned at, unsigned last, int16_t value) {
    return at | last << 8 | static_cast<uint32_t>(value) << 16;
  }
  static constexpr int kMostEntries = 10 * 66;  // of an MCU

  uint32_t* entries;
  Start* starts;  // of each MCU, and of the one after the last
  int entry_room, start_room;
  int count;  // of MCUs

  bool is_full() const {
    return count + 1 >= start_room || static_cast<int>(starts[count].entry) + kMostEntries > entry_room;
  }
};

// The blocks of MCUs that are recorded.
class RecordedBlocks {
 public:
  RecordedBlocks(const ScanBytes& bytes, int16_t* predicted, const BlockSlot* slots, int slot_count, uint32_t end,
                 int64_t most, Recording& recording)
      : begin_(bytes.begin()),
        safe_(bytes.safe_end()),
        predicted_(predicted),
        slots_(slots),
        slots_end_(slots + slot_count),
        slot_(slots),
        end_(end),
        most_(most),
        recording_(recording),
        to_(recording.entries + recording.starts[recording.count].entry) {}

  const CodeLookup *dc, *ac;

  void put(unsigned at, int16_t value) { *to_++ = Recording::entry(at, 0, value); }

  __attribute__((always_inline)) Progress begin(BitReader& reader) {
    if (slot_ == slots_ && (most_-- <= 0 || reader.position(begin_) >= end_ || recording_.is_full()))
      return Progress::end;
    if (reader.at > safe_) return Progress::failure;
    dc = slot_->dc;
    ac = slot_->ac;
    first_ = to_;
    return Progress::block;
  }

  // What describes the block takes the place of the first coefficient.
  __attribute__((always_inline)) Progress next(BitReader& reader, int coefficients, bool is_end) {
    int16_t& predicted = predicted_[slot_->component];
    predicted = static_cast<int16_t>(predicted + static_cast<int16_t>(*first_ >> 16));
    if (is_end) to_--;
    *first_ =
        Recording::entry(static_cast<unsigned>(to_ - first_ - 1), static_cast<unsigned>(coefficients - 1), predicted);
    if (++slot_ == slots_end_) {
      slot_ = slots_;
      Recording::Start& start = recording_.starts[++recording_.count];
      start = {reader.position(begin_), static_cast<uint32_t>(to_ - recording_.entries), {}};
      std::copy_n(predicted_, 3, start.predicted);
    }
    return begin(reader);
  }

 private:
  const uint8_t *const begin_, *const safe_;
  int16_t* const predicted_;
  const BlockSlot *const slots_, *const slots_end_, *slot_;
  const uint32_t end_;
  int64_t most_;  // MCUs
  Recording& recording_;
  uint32_t *to_, *first_ = nullptr;
};

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
