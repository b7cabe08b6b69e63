// GPU body for the Huffman codes of a baseline JPEG scan: self-synchronising parallel decoding. Read by NVRTC too.
//
// One thread block decodes one restart interval, or one file. Each thread decodes its own part of the bits, from a
// guessed state; then those whose predecessor ended in another state decode again, until nothing changes. Decoders that
// begin anywhere soon synchronise, so few rounds are needed.
#pragma once
#include "device/convert.h"
#include "device/words.h"

namespace avida {

// A Huffman table. A symbol says how many zeros come before a coefficient, and how many bits it has.
struct JpegCode {
  int last[17];    // the largest code of each length, filled up with ones to 16 bits; -1: there is none
  int offset[17];  // from a code of each length to the index of its symbol
  unsigned char symbols[256];
};

// The header of a scan of Y, Cb and Cr. Its blocks come in groups (MCUs).
struct JpegScan {
  static constexpr int kMostBlocks = 10;  // in a group
  struct Plane {
    int before;         // blocks of other planes
    int columns, rows;  // of blocks
    int group_columns, group_rows;
    int factors[64];  // of quantization, in zigzag order
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

// A restart interval, or the whole scan.
struct JpegBits {
  unsigned begin, count;  // the first byte, a multiple of four, and how many bits there are
  int first_group, groups;
};

// An item is a JpegBits.
struct JpegReader {
  static constexpr const char* header = "loops/decoding/jpeg_scan.h";
  static constexpr bool kUsual = true;
  static constexpr int kThreads = 512, kPhases = 9, kRepeated = 2;
  static constexpr int kLook = 11;        // bits that are looked up at once
  static constexpr int kLeastWords = 16;  // that a thread reads
  static constexpr int kAhead = 16;       // bytes that may be read after the last one

  struct Params {
    const unsigned char* bytes;  // without stuffed zeros; aligned to four bytes
    const JpegScan* scan;
    const JpegBits* bits;
    short* coefficients;  // zeros; the blocks of each plane row by row, plane after plane, each in zigzag order;
                          // aligned to 8 bytes
    short* steps;         // zeros; the differences of the DC coefficients of neighbouring blocks
    int* failed;          // becomes 1 where anything is unusual or broken
  };

  // The decoder's state at the end of a part: all that the next thread needs to continue.
  struct State {
    unsigned packed;
    AVIDA_HD AVIDA_INLINE static State of(unsigned over, unsigned k, unsigned block) {
      return {over | k << 8 | block << 16};
    }
    AVIDA_HD AVIDA_INLINE unsigned over() const { return packed & 255; }    // bits that were read after the part's end
    AVIDA_HD AVIDA_INLINE unsigned k() const { return packed >> 8 & 255; }  // the coefficient that comes next
    AVIDA_HD AVIDA_INLINE unsigned block() const { return packed >> 16 & 255; }  // in its group
  };
  static constexpr unsigned kNone = ~0u;

  struct Shared {
    unsigned short entries[4][1 << kLook];  // see Entry
    JpegScan scan;
    unsigned begin[kThreads], end[kThreads];  // of the parts, each a State
    unsigned blocks[kThreads];                // that end in a part
    unsigned short list[kThreads];            // a ring of parts to decode again
    unsigned first_listed, next_listed, listed;
    unsigned steps[3][kThreads];  // sums, which may wrap: by then a DC coefficient was too large
    unsigned sums[3][kThreads / 32];
    int complete;
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static bool run(const Params& params, Shared& shared, long item, int thread) {
    const JpegBits bits = params.bits[item];
    if constexpr (phase == 0) copy_scan(params, shared, thread);
    if constexpr (phase == 1) prepare(shared, thread);
    if constexpr (phase == 2) list(shared, bits, thread);
    if constexpr (phase == 3) return read_listed(params, shared, bits, thread);
    if constexpr (phase == 4) add_up(shared.blocks, shared.sums[0], thread);
    if constexpr (phase == 5) write(params, shared, bits, thread);
    if constexpr (phase == 6) sum_steps(params, shared, bits, thread);
    if constexpr (phase == 7)
      for (int c = 0; c < 3; c++) add_up(shared.steps[c], shared.sums[c], thread);
    if constexpr (phase == 8) write_first(params, shared, bits, thread);
    return false;
  }

 private:
  // An entry of the lookup table: the bits of code and number, those of the number, and by how many coefficients to
  // advance, which is 0 where there is no such code.
  struct Entry {
    static constexpr unsigned kEndOfBlock = 64, kLonger = 0;
    unsigned packed;
    AVIDA_HD AVIDA_INLINE static Entry of(unsigned length, unsigned symbol, bool ac) {
      const unsigned size = symbol & 15, zeros = symbol >> 4;
      const unsigned further = ac && !size && zeros != 15 ? kEndOfBlock : zeros + 1;
      return {(length + size) | size << 5 | further << 9};
    }
    AVIDA_HD AVIDA_INLINE unsigned bits() const { return packed & 31; }
    AVIDA_HD AVIDA_INLINE unsigned size() const { return packed >> 5 & 15; }
    AVIDA_HD AVIDA_INLINE unsigned further() const { return packed >> 9; }
  };

  // Finds the code that the 16 bits begin with, if it has at least `least` bits and at most `most`.
  AVIDA_HD AVIDA_INLINE static Entry search(const JpegCode& code, int bits, int least, int most, bool ac,
                                            unsigned otherwise) {
    for (int length = least; length <= most; length++)
      if (bits <= code.last[length])
        return Entry::of(static_cast<unsigned>(length),
                         code.symbols[((bits >> (16 - length)) + code.offset[length]) & 255], ac);
    return {otherwise};
  }

  // The count of words that each thread reads; the last threads read less, or nothing.
  AVIDA_HD AVIDA_INLINE static unsigned words_each(const JpegBits& bits) {
    const unsigned each = ((bits.count + 31) / 32 + kThreads - 1) / kThreads;
    return each < kLeastWords ? kLeastWords : each;
  }

  // A block of the planes, or null for one outside of the image.
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

  AVIDA_HD AVIDA_INLINE static void prepare(Shared& shared, int thread) {
    const JpegScan& scan = shared.scan;
    AVIDA_DO_NOT_UNROLL
    for (int i = thread; i < 4 << kLook; i += kThreads) {
      const int code = i >> kLook, begin = i & ((1 << kLook) - 1);
      shared.entries[code][begin] = static_cast<unsigned short>(
          search(scan.codes[code], begin << (16 - kLook), 1, kLook, code >= 2, Entry::kLonger).packed);
    }
    shared.begin[thread] = kNone;
    shared.blocks[thread] = 0;
    if (thread == 0) shared.next_listed = shared.listed = shared.complete = 0;
  }

  // Reads the bits from a position on.
  struct Window {
    const unsigned* words;
    unsigned at, next;              // a bit, and the word after the third
    unsigned first, second, third;  // the third is prefetched, its bytes not yet swapped

    AVIDA_HD AVIDA_INLINE Window(const unsigned char* bytes, unsigned at)
        : words(reinterpret_cast<const unsigned*>(bytes)), at(at), next(at / 32 + 3) {
      first = turned(read_only(words + at / 32));
      second = turned(read_only(words + at / 32 + 1));
      third = read_only(words + at / 32 + 2);
    }
    AVIDA_HD AVIDA_INLINE static unsigned turned(unsigned word) {
#ifdef __CUDA_ARCH__
      return __byte_perm(word, 0, 0x0123);
#else
      return __builtin_bswap32(word);
#endif
    }
    AVIDA_HD AVIDA_INLINE unsigned bits() const {
#ifdef __CUDA_ARCH__
      return __funnelshift_l(second, first, at);
#else
      return static_cast<unsigned>((static_cast<unsigned long>(first) << 32 | second) << at % 32 >> 32);
#endif
    }
    AVIDA_HD AVIDA_INLINE void skip(unsigned n) {  // less than 32
      const unsigned before = at;
      at += n;
      if (((before ^ at) & 32) == 0) return;
      first = second;
      second = turned(third);
      third = read_only(words + next++);
    }
  };

  // The bits of one thread.
  struct Part {
    unsigned begin, end;
    AVIDA_HD AVIDA_INLINE Part(const JpegBits& bits, unsigned number) {
      const unsigned each = words_each(bits) * 32;
      begin = number * each;
      end = begin < bits.count && bits.count - begin < each ? bits.count : begin + each;
    }
  };
  // Those after the last one are empty.
  AVIDA_HD AVIDA_INLINE static bool is_empty(const JpegBits& bits, int part) {
    return static_cast<unsigned>(part) * words_each(bits) * 32 >= bits.count;
  }

  AVIDA_HD AVIDA_INLINE static Entry look_up(const Shared& shared, unsigned code, unsigned bits) {
    const Entry entry{shared.entries[code][bits >> (32 - kLook)]};
    if (entry.packed != Entry::kLonger) return entry;
    constexpr unsigned none = 1;  // no such code: try again one bit later
    return search(shared.scan.codes[code], static_cast<int>(bits >> 16), kLook + 1, 16, code >= 2, none);
  }

  // Lists the parts whose predecessor now ends in another state.
  AVIDA_HD AVIDA_INLINE static void list(Shared& shared, const JpegBits& bits, int thread) {
    if (thread == 0) shared.first_listed = shared.next_listed;
    if (is_empty(bits, thread)) return;
    const unsigned begun = shared.begin[thread];
    const unsigned begin = thread == 0 || begun == kNone ? 0 : shared.end[thread - 1];
    if (begin == begun) return;
    shared.begin[thread] = begin;
#ifdef __CUDA_ARCH__
    const unsigned at = atomicAdd(&shared.listed, 1u);
#else
    const unsigned at = shared.listed++;
#endif
    shared.list[at % kThreads] = static_cast<unsigned short>(thread);
  }

  // Returns whether there was one.
  AVIDA_HD AVIDA_INLINE static bool read_listed(const Params& params, Shared& shared, const JpegBits& bits,
                                                int thread) {
    const unsigned at = shared.first_listed + static_cast<unsigned>(thread);
    if (thread == 0) shared.next_listed = shared.listed;
    if (at >= shared.listed) return false;
    const unsigned number = shared.list[at % kThreads];
    const Part part(bits, number);
    const State from{shared.begin[number]};
    const JpegScan& scan = shared.scan;
    const unsigned second_dc = scan.second_dc, second_ac = scan.second_ac;
    const unsigned last_block = static_cast<unsigned>(scan.period) - 1;
    unsigned k = from.k(), block = from.block();
    unsigned blocks = 0;
    Window window(params.bytes + bits.begin, part.begin + from.over());
    while (window.at < part.end) {
      const Entry entry = look_up(shared, code_of(second_dc, second_ac, k, block), window.bits());
      window.skip(entry.bits());
      k += entry.further();
      if (k >= 64) {
        k = 0;
        block = block == last_block ? 0 : block + 1;
        blocks++;
      }
    }
    shared.end[number] = State::of(window.at - part.end, k, block).packed;
    shared.blocks[number] = blocks;
    return true;
  }

  AVIDA_HD AVIDA_INLINE static unsigned code_of(unsigned second_dc, unsigned second_ac, unsigned k, unsigned block) {
    return k ? 2 + (second_ac >> block & 1) : second_dc >> block & 1;
  }

  // The sums of 32 threads' numbers.
  AVIDA_HD AVIDA_INLINE static void add_up(const unsigned (&numbers)[kThreads], unsigned (&sums)[kThreads / 32],
                                           int thread) {
    if (thread >= kThreads / 32) return;
    unsigned sum = 0;
    for (int i = 0; i < 32; i++) sum += numbers[thread * 32 + i];
    sums[thread] = sum;
  }
  // The sum of the numbers of all threads before.
  AVIDA_HD AVIDA_INLINE static unsigned sum_before(const unsigned (&numbers)[kThreads],
                                                   const unsigned (&sums)[kThreads / 32], int thread) {
    unsigned sum = 0;
    for (int i = 0; i < thread / 32; i++) sum += sums[i];
    for (int i = thread / 32 * 32; i < thread; i++) sum += numbers[i];
    return sum;
  }

  // Four neighbouring coefficients, written together. Those that are there already are another thread's, and stay.
  struct Four {
    short* block;  // null: nothing is written
    unsigned which = 0;
    unsigned long held = 0;

    AVIDA_HD AVIDA_INLINE void put(unsigned k, short value) {
      if (k / 4 != which) write();
      which = k / 4;
      held |= static_cast<unsigned long>(static_cast<unsigned short>(value)) << k % 4 * 16;
    }
    AVIDA_HD AVIDA_INLINE void write() {
      if (!held || !block) return;
#ifdef __CUDA_ARCH__
      asm volatile("red.global.or.b64 [%0], %1;" ::"l"(block + 4 * which), "l"(held) : "memory");
#else
      unsigned long there;
      __builtin_memcpy(&there, block + 4 * which, 8);
      held |= there;
      __builtin_memcpy(block + 4 * which, &held, 8);
#endif
      held = 0;
    }
  };

  AVIDA_HD AVIDA_INLINE static void write(const Params& params, Shared& shared, const JpegBits& bits, int thread) {
    if (is_empty(bits, thread)) return;
    const JpegScan& scan = shared.scan;
    const int all = bits.groups * scan.blocks;
    int block = static_cast<int>(sum_before(shared.blocks, shared.sums[0], thread));
    if (block >= all) return;  // padding bits, or data after the image
    const int group = block / scan.blocks;
    int y = (bits.first_group + group) / scan.group_columns, x = bits.first_group + group - y * scan.group_columns;
    int in_group = block - group * scan.blocks;
    const Part part(bits, static_cast<unsigned>(thread));
    const State from{shared.begin[thread]};
    const unsigned second_dc = scan.second_dc, second_ac = scan.second_ac;
    unsigned k = from.k();
    short* steps = params.steps + static_cast<long>(bits.first_group) * scan.blocks;
    const int* factors = scan.plane[scan.place[in_group].plane].factors;
    Four four{block_at(params, scan, x, y, in_group)};
    Window window(params.bytes + bits.begin, part.begin + from.over());
    while (window.at < part.end) {
      const unsigned held = window.bits();
      const Entry entry = look_up(shared, code_of(second_dc, second_ac, k, static_cast<unsigned>(in_group)), held);
      const unsigned n = entry.bits(), size = entry.size();
      window.skip(n);
      // The upper half of the numbers of `size` bits is positive.
      const int number = size ? static_cast<int>(held << (n - size) >> (32 - size)) : 0;
      const int value = size && number >> (size - 1) == 0 ? number - (1 << size) + 1 : number;
      const unsigned before = k;
      k += entry.further();
      if (k == before || (k > 64 && entry.further() != Entry::kEndOfBlock)) return fail(params);
      if (before == 0) {
        steps[block] = static_cast<short>(value);
      } else if (size) {
        four.put(k - 1, saturate<short>(value * factors[k - 1]));
      }
      if (k < 64) continue;
      k = 0;
      four.write();
      if (++block == all) {
        if (window.at <= bits.count && bits.count - window.at < 8) shared.complete = 1;
        return;
      }
      if (++in_group == scan.blocks) {
        in_group = 0;
        if (++x == scan.group_columns) x = 0, y++;
      }
      four = Four{block_at(params, scan, x, y, in_group)};
      factors = scan.plane[scan.place[in_group].plane].factors;
    }
    four.write();
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
    unsigned sums[3] = {};
    each_step(params, shared.scan, bits, thread, [&](int, int block, int step) {
      const int plane = shared.scan.place[block].plane;
      for (int c = 0; c < 3; c++) sums[c] += c == plane ? static_cast<unsigned>(step) : 0;
    });
    for (int c = 0; c < 3; c++) shared.steps[c][thread] = sums[c];
  }

  // DC coefficients are coded as differences from the block before.
  AVIDA_HD AVIDA_INLINE static void write_first(const Params& params, Shared& shared, const JpegBits& bits,
                                                int thread) {
    if (thread == 0 && !shared.complete) return fail(params);
    unsigned sums[3];
    for (int c = 0; c < 3; c++) sums[c] = sum_before(shared.steps[c], shared.sums[c], thread);
    const JpegScan& scan = shared.scan;
    each_step(params, shared.scan, bits, thread, [&](int group, int block, int step) {
      const int plane = scan.place[block].plane;
      int value = 0;
      for (int c = 0; c < 3; c++)
        if (c == plane) value = static_cast<int>(sums[c] += static_cast<unsigned>(step));
      const auto kept = static_cast<short>(value);
      if (value != kept) fail(params);
      const int y = group / scan.group_columns, x = group - y * scan.group_columns;
      if (short* to = block_at(params, scan, x, y, block)) to[0] = saturate<short>(kept * scan.plane[plane].factors[0]);
    });
  }
};

}  // namespace avida
