// What the GPU bodies share that read the Huffman codes of a baseline JPEG scan. Read by NVRTC too.
//
// jpeg_sync.h finds the state in which each part begins, jpeg_coefficients.h reads the coefficients from there.
#pragma once
#include "codecs/jpeg/scan/device_scan.h"
#include "device/convert.h"
#include "device/words.h"

namespace avida {

struct JpegFile {
  const JpegScan* scan;
  short* coefficients;  // zeros; the blocks of each plane row by row, plane after plane, each in zigzag order; aligned
                        // to 8 bytes
  short* steps;         // zeros; the differences of the DC coefficients of neighbouring blocks
  int* failed;          // becomes 1 where anything is unusual or broken
};

// All files of a launch.
struct JpegWork {
  const JpegFile* files;
  const JpegSegment* segments;
  unsigned* begins;       // of each part: a JpegState
  unsigned* part_blocks;  // that end in each part
  unsigned* ends;         // of each segment: a JpegState
  unsigned* blocks;       // that end in each segment
  int* complete;          // of each interval: becomes 1 where it has as many blocks as it should
};

// Reads the bits from a position on.
struct JpegWindow {
  const unsigned* words;
  unsigned at, next;              // a bit, and the word after the third
  unsigned first, second, third;  // the third is prefetched, its bytes not yet swapped

  AVIDA_HD AVIDA_INLINE JpegWindow(const unsigned char* bytes, unsigned at)
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

// All threads of a block copy a scan to shared memory.
AVIDA_HD AVIDA_INLINE void copy_jpeg_scan(const JpegScan* from, JpegScan& to, int thread) {
  static_assert(sizeof(JpegScan) % 4 == 0);
  const auto* words = reinterpret_cast<const unsigned*>(from);
  for (int i = thread; i < static_cast<int>(sizeof(JpegScan) / 4); i += JpegSegment::kThreads)
    reinterpret_cast<unsigned*>(&to)[i] = read_only(words + i);
}

// A code as kernels look it up: the bits of code and number, those of the number, and by how many coefficients to
// advance, which is 0 where there is no such code.
struct JpegSymbol {
  static constexpr unsigned kEndOfBlock = 64, kLonger = 0;
  unsigned packed;
  AVIDA_HD AVIDA_INLINE static JpegSymbol of(unsigned length, unsigned symbol, bool ac) {
    const unsigned size = symbol & 15, zeros = symbol >> 4;
    const unsigned further = ac && !size && zeros != 15 ? kEndOfBlock : zeros + 1;
    return {(length + size) | size << 5 | further << 9};
  }
  AVIDA_HD AVIDA_INLINE unsigned bits() const { return packed & 31; }
  AVIDA_HD AVIDA_INLINE unsigned size() const { return packed >> 5 & 15; }
  AVIDA_HD AVIDA_INLINE unsigned further() const { return packed >> 9; }

  // What the 16 bits begin with, if its code has at least `least` bits and at most `most`.
  AVIDA_HD AVIDA_INLINE static JpegSymbol find(const JpegCode& code, int bits, int least, int most, bool ac,
                                               unsigned otherwise) {
    for (int length = least; length <= most; length++)
      if (bits <= code.last[length])
        return of(static_cast<unsigned>(length), code.symbols[((bits >> (16 - length)) + code.offset[length]) & 255],
                  ac);
    return {otherwise};
  }
  // Where the code is longer than the `look` bits that were looked up. If there is none: try again one bit later.
  AVIDA_HD AVIDA_INLINE static JpegSymbol find_longer(const JpegScan& scan, unsigned code, unsigned bits, int look) {
    constexpr unsigned none = 1;
    return find(scan.codes[code], static_cast<int>(bits >> 16), look + 1, 16, code >= 2, none);
  }
};

// The code that a decoder uses: an index of JpegScan::codes.
AVIDA_HD AVIDA_INLINE unsigned jpeg_code_of(unsigned second_dc, unsigned second_ac, unsigned k, unsigned block) {
  return k ? 2 + (second_ac >> block & 1) : second_dc >> block & 1;
}

// The codes of a file, in shared memory.
struct JpegTables {
  static constexpr int kLook = 11;  // bits that are looked up at once

  unsigned short symbols[4][1 << kLook];
  JpegScan scan;

  // To be called by all threads of a block, after they have copied the scan.
  AVIDA_HD AVIDA_INLINE void prepare(int thread) {
    AVIDA_DO_NOT_UNROLL
    for (int i = thread; i < 4 << kLook; i += JpegSegment::kThreads) {
      const int code = i >> kLook, begin = i & ((1 << kLook) - 1);
      symbols[code][begin] = static_cast<unsigned short>(
          JpegSymbol::find(scan.codes[code], begin << (16 - kLook), 1, kLook, code >= 2, JpegSymbol::kLonger).packed);
    }
  }

  AVIDA_HD AVIDA_INLINE JpegSymbol look_up(unsigned code, unsigned bits) const {
    const JpegSymbol symbol{symbols[code][bits >> (32 - kLook)]};
    return symbol.packed != JpegSymbol::kLonger ? symbol : JpegSymbol::find_longer(scan, code, bits, kLook);
  }
};

// One number of each thread of a block, and their sums: first all threads call add_up(), then they ask.
struct JpegSums {
  static constexpr int kThreads = JpegSegment::kThreads, kEach = 32;
  unsigned numbers[kThreads], sums[kThreads / kEach];

  AVIDA_HD AVIDA_INLINE void add_up(int thread) {
    if (thread >= kThreads / kEach) return;
    unsigned sum = 0;
    for (int i = 0; i < kEach; i++) sum += numbers[thread * kEach + i];
    sums[thread] = sum;
  }
  // The sum of the numbers of all threads before.
  AVIDA_HD AVIDA_INLINE unsigned before(int thread) const {
    unsigned sum = 0;
    for (int i = 0; i < thread / kEach; i++) sum += sums[i];
    for (int i = thread / kEach * kEach; i < thread; i++) sum += numbers[i];
    return sum;
  }
  AVIDA_HD AVIDA_INLINE unsigned all() const { return before(kThreads); }
};

}  // namespace avida
