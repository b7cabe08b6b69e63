// The coefficients of a JPEG image, read from the bits of its scan by a block of threads. Huffman codes have no marks
// where one could begin in the middle, but whoever begins anywhere soon falls into step: each thread begins at its own
// part of the bits, then all begin again where the one before them ended, until nothing changes.
#pragma once
#include "kernel/convert.h"
#include "kernel/words.h"

namespace avida {

// A Huffman code of symbols: how many zeros come before a number, and how many bits the number has.
struct JpegCode {
  int last[17];    // the largest code of each length, filled up with ones to 16 bits; -1: there is none
  int offset[17];  // from a code of each length to the place of its symbol
  unsigned char symbols[256];
};

// What is needed to read the bits of an image of Y, Cb and Cr. They come in groups of blocks.
struct JpegScan {
  static constexpr int kMostBlocks = 10;  // in a group
  struct Plane {
    int before;         // blocks of other planes
    int columns, rows;  // of blocks
    int group_columns, group_rows;
    unsigned places[64];  // of coefficients in the order of the file: the factor of quantization, and from bit 16 on
                          // the place in the block
  };
  JpegCode codes[4];  // DC, DC, AC, AC
  Plane plane[3];
  int group_columns;  // of groups
  int blocks;         // in a group
  struct {
    unsigned char plane, row, column, spare;
  } place[kMostBlocks];           // of each of them
  unsigned second_dc, second_ac;  // a bit for each that uses the second code
  int period;                     // of these bits: 1 where all use the same
};

// Bits up to a restart, or the end.
struct JpegBits {
  unsigned begin, count;  // the first byte, a multiple of four, and how many bits there are
  int first_group, groups;
};

// An item is a JpegBits.
struct JpegReader {
  static constexpr const char* header = "kernel/jpeg_scan.h";
  static constexpr bool kUsual = true;
  static constexpr int kThreads = 512, kPhases = 8, kRepeated = 2;
  static constexpr int kLook = 11;        // bits that are looked up at once
  static constexpr int kLeastWords = 16;  // that a thread reads
  static constexpr int kAhead = 16;       // bytes that may be read beyond the last one

  struct Params {
    const unsigned char* bytes;  // without those that are stuffed in; four bytes aligned
    const JpegScan* scan;
    const JpegBits* bits;
    short* coefficients;  // the blocks of each plane row by row, plane after plane; 16 bytes aligned
    short* steps;         // of all first coefficients, from one block of a plane to the next
    int* failed;          // becomes 1 where anything is unusual or broken
  };

  // Where a thread ends. All that the next one needs to go on.
  struct State {
    unsigned packed;
    AVIDA_HD AVIDA_INLINE static State of(unsigned over, unsigned k, unsigned block) {
      return {over | k << 8 | block << 16};
    }
    AVIDA_HD AVIDA_INLINE unsigned over() const { return packed & 255; }         // bits that were read beyond the part
    AVIDA_HD AVIDA_INLINE unsigned k() const { return packed >> 8 & 255; }       // the coefficient that comes next
    AVIDA_HD AVIDA_INLINE unsigned block() const { return packed >> 16 & 255; }  // in its group
  };
  static constexpr unsigned kNone = ~0u;

  struct Shared {
    unsigned short entries[4][1 << kLook];  // see Entry
    JpegScan scan;
    unsigned begin[kThreads], end[2][kThreads];
    unsigned char turn[kThreads];  // which of the ends is read
    int blocks[kThreads];          // that end in a thread's part
    int steps[3][kThreads];
    int sums[3][kThreads / 32];
    int complete;
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static bool run(const Params& params, Shared& shared, long item, int thread) {
    const JpegBits bits = params.bits[item];
    if constexpr (phase == 0) copy_scan(params, shared, thread);
    if constexpr (phase == 1) prepare(params, shared, bits, thread);
    if constexpr (phase == 2) return fall_into_step(params, shared, bits, thread);
    if constexpr (phase == 3) add_up(shared.blocks, shared.sums[0], thread);
    if constexpr (phase == 4) write(params, shared, bits, thread);
    if constexpr (phase == 5) sum_steps(params, shared, bits, thread);
    if constexpr (phase == 6)
      for (int c = 0; c < 3; c++) add_up(shared.steps[c], shared.sums[c], thread);
    if constexpr (phase == 7) write_first(params, shared, bits, thread);
    return false;
  }

 private:
  // A symbol, looked up: the length of its code, the bits of the number after it, and how many coefficients further
  // the next one is. 0: there is none, or its code is longer.
  struct Entry {
    static constexpr unsigned kEndOfBlock = 64;
    unsigned packed;
    AVIDA_HD AVIDA_INLINE static Entry of(unsigned length, unsigned symbol, bool ac) {
      const unsigned size = symbol & 15, zeros = symbol >> 4;
      const unsigned further = ac && !size && zeros != 15 ? kEndOfBlock : zeros + 1;
      return {length | size << 5 | further << 9};
    }
    AVIDA_HD AVIDA_INLINE unsigned length() const { return packed & 31; }
    AVIDA_HD AVIDA_INLINE unsigned size() const { return packed >> 5 & 15; }
    AVIDA_HD AVIDA_INLINE unsigned further() const { return packed >> 9; }
  };

  // Finds the code that the 16 bits begin with, if it has at least `least` bits and at most `most`.
  AVIDA_HD AVIDA_INLINE static Entry search(const JpegCode& code, int bits, int least, int most, bool ac) {
    for (int length = least; length <= most; length++)
      if (bits <= code.last[length])
        return Entry::of(static_cast<unsigned>(length),
                         code.symbols[((bits >> (16 - length)) + code.offset[length]) & 255], ac);
    return {0};
  }

  // How many words each thread reads; the last ones less, or nothing.
  AVIDA_HD AVIDA_INLINE static unsigned words_each(const JpegBits& bits) {
    const unsigned each = ((bits.count + 31) / 32 + kThreads - 1) / kThreads;
    return each < kLeastWords ? kLeastWords : each;
  }

  // A block of the planes, or null for one that lies beyond the image.
  AVIDA_HD AVIDA_INLINE static short* block_at(const Params& params, const JpegScan& scan, int x, int y, int block) {
    const auto place = scan.place[block];
    const JpegScan::Plane& plane = scan.plane[place.plane];
    const int column = x * plane.group_columns + place.column, row = y * plane.group_rows + place.row;
    if (column >= plane.columns || row >= plane.rows) return nullptr;
    return params.coefficients + (plane.before + static_cast<long>(row) * plane.columns + column) * 64;
  }

  AVIDA_HD AVIDA_INLINE static void copy_scan(const Params& params, Shared& shared, int thread) {
    static_assert(sizeof(JpegScan) % 4 == 0);
    const auto* from = reinterpret_cast<const unsigned*>(params.scan);
    for (int i = thread; i < static_cast<int>(sizeof(JpegScan) / 4); i += kThreads)
      reinterpret_cast<unsigned*>(&shared.scan)[i] = read_only(from + i);
  }

  AVIDA_HD AVIDA_INLINE static void prepare(const Params& params, Shared& shared, const JpegBits& bits, int thread) {
    const JpegScan& scan = shared.scan;
    AVIDA_DO_NOT_UNROLL
    for (int i = thread; i < 4 << kLook; i += kThreads) {
      const int code = i >> kLook, begin = i & ((1 << kLook) - 1);
      shared.entries[code][begin] =
          static_cast<unsigned short>(search(scan.codes[code], begin << (16 - kLook), 1, kLook, code >= 2).packed);
    }
    const int blocks = bits.groups * scan.blocks;
    AVIDA_DO_NOT_UNROLL
    for (int i = thread; i < blocks * 8; i += kThreads) {  // in pieces of 16 bytes
      const int group = i / 8 / scan.blocks, block = i / 8 - group * scan.blocks;
      const int place = bits.first_group + group, y = place / scan.group_columns, x = place - y * scan.group_columns;
      if (short* to = block_at(params, scan, x, y, block)) store_aligned(to + i % 8 * 8, AlignedWords<4>{});
      if (i % 8 == 0) params.steps[static_cast<long>(place) * scan.blocks + block] = 0;
    }
    shared.begin[thread] = kNone;
    shared.turn[thread] = 0;
    shared.blocks[thread] = 0;
    if (thread == 0) shared.complete = 0;
  }

  // The bits from some place on.
  struct Window {
    const unsigned* next;
    unsigned first, second, third;  // the third is there before it is needed
    unsigned bit;

    AVIDA_HD AVIDA_INLINE Window(const unsigned char* bytes, unsigned position)
        : next(reinterpret_cast<const unsigned*>(bytes) + position / 32), bit(position % 32) {
      first = word();
      second = word();
      third = word();
    }
    AVIDA_HD AVIDA_INLINE unsigned word() {
      const unsigned read = read_only(next++);
#ifdef __CUDA_ARCH__
      return __byte_perm(read, 0, 0x0123);
#else
      return __builtin_bswap32(read);
#endif
    }
    AVIDA_HD AVIDA_INLINE unsigned bits() const {
#ifdef __CUDA_ARCH__
      return __funnelshift_l(second, first, bit);
#else
      return static_cast<unsigned>((static_cast<unsigned long>(first) << 32 | second) << bit >> 32);
#endif
    }
    AVIDA_HD AVIDA_INLINE void skip(unsigned n) {  // up to 32
      bit += n;
      if (bit < 32) return;
      bit -= 32;
      first = second;
      second = third;
      third = word();
    }
  };

  AVIDA_HD AVIDA_INLINE static Entry look_up(const Shared& shared, unsigned second_dc, unsigned second_ac,
                                             unsigned bits, unsigned k, unsigned block) {
    const unsigned code = k ? 2 + (second_ac >> block & 1) : second_dc >> block & 1;
    const Entry entry{shared.entries[code][bits >> (32 - kLook)]};
    if (entry.packed) return entry;
    return search(shared.scan.codes[code], static_cast<int>(bits >> 16), kLook + 1, 16, code >= 2);
  }

  // Reads a part as often as the thread before ends elsewhere. Returns whether it did.
  AVIDA_HD AVIDA_INLINE static bool fall_into_step(const Params& params, Shared& shared, const JpegBits& bits,
                                                   int thread) {
    const unsigned each = words_each(bits) * 32, part = static_cast<unsigned>(thread) * each;
    if (part >= bits.count) return false;
    const unsigned turn = shared.turn[thread], begun = shared.begin[thread];
    shared.turn[thread] = static_cast<unsigned char>(1 - turn);
    const State from{thread == 0 || begun == kNone ? 0 : shared.end[turn][thread - 1]};
    if (from.packed == begun) {
      shared.end[1 - turn][thread] = shared.end[turn][thread];
      return false;
    }
    const JpegScan& scan = shared.scan;
    unsigned at = part + from.over(), k = from.k(), block = from.block();
    const unsigned end = bits.count - part < each ? bits.count : part + each;
    const unsigned last_block = static_cast<unsigned>(scan.period) - 1;
    const unsigned second_dc = scan.second_dc, second_ac = scan.second_ac;
    int blocks = 0;
    Window window(params.bytes + bits.begin, at);
    while (at < end) {
      const Entry entry = look_up(shared, second_dc, second_ac, window.bits(), k, block);
      const unsigned n = entry.packed ? entry.length() + entry.size() : 1;
      window.skip(n);
      at += n;
      k += entry.further();
      if (k >= 64) {
        k = 0;
        block = block == last_block ? 0 : block + 1;
        blocks++;
      }
    }
    shared.begin[thread] = from.packed;
    shared.end[1 - turn][thread] = State::of(at - end, k, block).packed;
    shared.blocks[thread] = blocks;
    return true;
  }

  // The sums of 32 threads' numbers.
  AVIDA_HD AVIDA_INLINE static void add_up(const int (&numbers)[kThreads], int (&sums)[kThreads / 32], int thread) {
    if (thread >= kThreads / 32) return;
    int sum = 0;
    for (int i = 0; i < 32; i++) sum += numbers[thread * 32 + i];
    sums[thread] = sum;
  }
  // The sum of the numbers of all threads before.
  AVIDA_HD AVIDA_INLINE static int sum_before(const int (&numbers)[kThreads], const int (&sums)[kThreads / 32],
                                              int thread) {
    int sum = 0;
    for (int i = 0; i < thread / 32; i++) sum += sums[i];
    for (int i = thread / 32 * 32; i < thread; i++) sum += numbers[i];
    return sum;
  }

  AVIDA_HD AVIDA_INLINE static void write(const Params& params, Shared& shared, const JpegBits& bits, int thread) {
    const unsigned each = words_each(bits) * 32, part = static_cast<unsigned>(thread) * each;
    if (part >= bits.count) return;
    const JpegScan& scan = shared.scan;
    const int all = bits.groups * scan.blocks;
    int block = sum_before(shared.blocks, shared.sums[0], thread);
    if (block >= all) return;  // what comes after the last one is the rest of a byte, or not of this image
    int group = block / scan.blocks, y = (bits.first_group + group) / scan.group_columns;
    int x = bits.first_group + group - y * scan.group_columns, in_group = block - group * scan.blocks;
    const State from{shared.begin[thread]};
    unsigned at = part + from.over(), k = from.k();
    const unsigned end = bits.count - part < each ? bits.count : part + each;
    short* to = block_at(params, scan, x, y, in_group);
    short* steps = params.steps + static_cast<long>(bits.first_group) * scan.blocks;
    const unsigned* places = scan.plane[scan.place[in_group].plane].places;
    const unsigned second_dc = scan.second_dc, second_ac = scan.second_ac;
    Window window(params.bytes + bits.begin, at);
    while (at < end) {
      const unsigned held = window.bits();
      const Entry entry = look_up(shared, second_dc, second_ac, held, k, static_cast<unsigned>(in_group));
      if (!entry.packed) return fail(params);
      const unsigned size = entry.size(), length = entry.length(), n = length + size;
      window.skip(n);
      at += n;
      // The upper half of the numbers of `size` bits is positive.
      const int number = size ? static_cast<int>(held << length >> (32 - size)) : 0;
      const int value = size && number >> (size - 1) == 0 ? number - (1 << size) + 1 : number;
      if (k == 0) {
        steps[block] = static_cast<short>(value);
        k = 1;
        continue;
      }
      k += entry.further();
      if (k > 64 && entry.further() != Entry::kEndOfBlock) return fail(params);
      if (size && to) {
        const unsigned place = places[k - 1];
        to[place >> 16] = saturate<short>(value * static_cast<int>(place & 0xFFFF));
      }
      if (k < 64) continue;
      k = 0;
      if (++block == all) {
        if (at <= bits.count && bits.count - at < 8) shared.complete = 1;
        return;
      }
      if (++in_group == scan.blocks) {
        in_group = 0;
        if (++x == scan.group_columns) x = 0, y++;
      }
      to = block_at(params, scan, x, y, in_group);
      places = scan.plane[scan.place[in_group].plane].places;
    }
  }

  AVIDA_HD AVIDA_INLINE static void fail(const Params& params) { *params.failed = 1; }

  // Calls fn(group, block, step) for each block of the groups that are the thread's.
  template <class Fn>
  AVIDA_HD AVIDA_INLINE static void each_step(const Params& params, const JpegScan& scan, const JpegBits& bits,
                                              int thread, const Fn& fn) {
    const int each = (bits.groups + kThreads - 1) / kThreads, first = thread * each;
    const int end = first + each < bits.groups ? first + each : bits.groups;
    for (int group = bits.first_group + first; group < bits.first_group + end; group++)
      for (int block = 0; block < scan.blocks; block++)
        fn(group, block, params.steps[static_cast<long>(group) * scan.blocks + block]);
  }

  AVIDA_HD AVIDA_INLINE static void sum_steps(const Params& params, Shared& shared, const JpegBits& bits, int thread) {
    int sums[3] = {};
    each_step(params, shared.scan, bits, thread, [&](int, int block, int step) {
      const int plane = shared.scan.place[block].plane;
      for (int c = 0; c < 3; c++) sums[c] += c == plane ? step : 0;
    });
    for (int c = 0; c < 3; c++) shared.steps[c][thread] = sums[c];
  }

  // The first coefficients are coded by what they differ from those before.
  AVIDA_HD AVIDA_INLINE static void write_first(const Params& params, Shared& shared, const JpegBits& bits,
                                                int thread) {
    if (thread == 0 && !shared.complete) return fail(params);
    int sums[3];
    for (int c = 0; c < 3; c++) sums[c] = sum_before(shared.steps[c], shared.sums[c], thread);
    const JpegScan& scan = shared.scan;
    each_step(params, shared.scan, bits, thread, [&](int group, int block, int step) {
      const int plane = scan.place[block].plane;
      int value = 0;
      for (int c = 0; c < 3; c++)
        if (c == plane) value = sums[c] += step;
      if (value != static_cast<short>(value)) fail(params);
      const int y = group / scan.group_columns, x = group - y * scan.group_columns;
      if (short* to = block_at(params, scan, x, y, block))
        to[0] = saturate<short>(value * static_cast<int>(scan.plane[plane].places[0] & 0xFFFF));
    });
  }
};

}  // namespace avida
