// Arithmetic on numbers that lie side by side in words.
#pragma once
#include "kernel/macros.h"

namespace avida::packed {

// Byte k of the result is that of the eight bytes of a and b that digit k of `which` names.
AVIDA_HD AVIDA_INLINE unsigned pick(unsigned a, unsigned b, unsigned which) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, which);
#else
  const unsigned long both = a | static_cast<unsigned long>(b) << 32;
  unsigned made = 0;
  for (int k = 0; k < 4; k++) made |= static_cast<unsigned>(both >> 8 * (which >> 4 * k & 7) & 0xff) << 8 * k;
  return made;
#endif
}

// sum + the products of two signed halves with the two lower bytes of a word.
AVIDA_HD AVIDA_INLINE int dot_low(unsigned halves, unsigned word, int sum) {
#ifdef __CUDA_ARCH__
  int made;
  asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(made) : "r"(halves), "r"(word), "r"(sum));
  return made;
#else
  const int lower = static_cast<short>(halves), upper = static_cast<short>(halves >> 16);
  return sum + lower * static_cast<int>(word & 0xff) + upper * static_cast<int>(word >> 8 & 0xff);
#endif
}

// The same with the two upper bytes.
AVIDA_HD AVIDA_INLINE int dot_high(unsigned halves, unsigned word, int sum) {
#ifdef __CUDA_ARCH__
  int made;
  asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(made) : "r"(halves), "r"(word), "r"(sum));
  return made;
#else
  return dot_low(halves, word >> 16, sum);
#endif
}

// Four numbers as bytes of a word, saturated.
AVIDA_HD AVIDA_INLINE unsigned bytes_of(int a, int b, int c, int d) {
#ifdef __CUDA_ARCH__
  unsigned made;
  asm("{\n"
      ".reg .b32 upper;\n"
      "cvt.pack.sat.u8.s32.b32 upper, %4, %3, 0;\n"
      "cvt.pack.sat.u8.s32.b32 %0, %2, %1, upper;\n"
      "}"
      : "=r"(made)
      : "r"(a), "r"(b), "r"(c), "r"(d));
  return made;
#else
  auto byte = [](int x) { return static_cast<unsigned>(x < 0 ? 0 : x > 255 ? 255 : x); };
  return byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24;
#endif
}

// Words side by side, moved at once: the address is aligned to all of them.
template <int n>
struct alignas(4 * n) Words {
  unsigned at[n];
};
template <int n>
AVIDA_HD AVIDA_INLINE Words<n> load(const unsigned* from) {
  return *reinterpret_cast<const Words<n>*>(from);
}
template <int n>
AVIDA_HD AVIDA_INLINE void store(unsigned* to, const Words<n>& words) {
  *reinterpret_cast<Words<n>*>(to) = words;
}

// x / d for x below 2^32 / d, where `inverse` is inverse_of(d).
AVIDA_HD constexpr unsigned inverse_of(unsigned d) { return d == 1 ? 0 : (0xffffffffu - (d - 1)) / d + 2; }
AVIDA_HD AVIDA_INLINE unsigned divided(unsigned x, unsigned inverse) {
  return inverse == 0 ? x : static_cast<unsigned>(static_cast<unsigned long>(x) * inverse >> 32);
}

// One half of a word, whose other half another thread writes.
AVIDA_HD AVIDA_INLINE void store_half(unsigned* word, int which, unsigned number) {
#ifdef __CUDA_ARCH__
  reinterpret_cast<unsigned short*>(word)[which] = static_cast<unsigned short>(number);
#else
  *word = which ? (*word & 0xffff) | number << 16 : (*word & 0xffff0000) | (number & 0xffff);
#endif
}

// Something in the GPU's memory that no thread writes while the kernel runs.
template <class T>
AVIDA_HD AVIDA_INLINE T read_only(const T* from) {
#ifdef __CUDA_ARCH__
  return __ldg(from);
#else
  return *from;
#endif
}

// Reads bytes from several addresses on, one after the other; all addresses lie a multiple of four apart. A GPU reads
// the whole words that the bytes lie in, and no other.
template <int rows>
class ByteReader {
 public:
  // The words that n bytes of each row lie in.
  template <int n>
  struct Read {
    static constexpr int kWords = (n + 3) / 4;
    unsigned words[rows][kWords + 1];
  };

#ifdef __CUDA_ARCH__
  AVIDA_HD AVIDA_INLINE ByteReader(const unsigned char* bytes, const int (&rows_at)[rows])
      : before_(static_cast<unsigned>(reinterpret_cast<unsigned long>(bytes)) & 3) {
#pragma unroll
    for (int j = 0; j < rows; j++) {
      words_[j] = reinterpret_cast<const unsigned*>(bytes - before_ + rows_at[j]);
      word_[j] = __ldg(words_[j]);
    }
  }

  // The next n bytes: a multiple of four where `more` are to come.
  template <int n>
  AVIDA_HD AVIDA_INLINE Read<n> read(bool more) {
    constexpr int count = Read<n>::kWords;
    Read<n> made;
    const bool reaches = more || before_ + (n - 4 * (count - 1)) > 4;
#pragma unroll
    for (int j = 0; j < rows; j++) {
      made.words[j][0] = word_[j];
#pragma unroll
      for (int k = 1; k < count; k++) made.words[j][k] = __ldg(words_[j] + k);
      made.words[j][count] = word_[j] = reaches ? __ldg(words_[j] + count) : 0;
      words_[j] += n / 4;
    }
    return made;
  }

  // The bytes of a row, from a whole word on. The last word may have others beyond them.
  template <int n>
  AVIDA_HD AVIDA_INLINE void align(unsigned (&to)[(n + 3) / 4], const unsigned (&read)[(n + 3) / 4 + 1]) const {
#pragma unroll
    for (int k = 0; k < (n + 3) / 4; k++) to[k] = __funnelshift_r(read[k], read[k + 1], before_ * 8);
  }

 private:
  const unsigned* words_[rows];
  unsigned word_[rows];
  unsigned before_;  // bytes of these words that come before
#else
  ByteReader(const unsigned char* bytes, const int (&rows_at)[rows]) {
    for (int j = 0; j < rows; j++) bytes_[j] = bytes + rows_at[j];
  }

  template <int n>
  Read<n> read(bool) {
    Read<n> made{};
    for (int j = 0; j < rows; j++) {
      __builtin_memcpy(made.words[j], bytes_[j], n);
      bytes_[j] += n;
    }
    return made;
  }

  template <int n>
  void align(unsigned (&to)[(n + 3) / 4], const unsigned (&read)[(n + 3) / 4 + 1]) const {
    for (int k = 0; k < (n + 3) / 4; k++) to[k] = read[k];
  }

 private:
  const unsigned char* bytes_[rows];
#endif
};

// Writes the first n bytes of words to any address.
template <int most>
AVIDA_HD AVIDA_INLINE void store_bytes(unsigned char* to, const unsigned (&words)[most], int n) {
#ifdef __CUDA_ARCH__
  if (n == 4 * most && reinterpret_cast<unsigned long>(to) % 4 == 0) {
#pragma unroll
    for (int k = 0; k < most; k++) reinterpret_cast<unsigned*>(to)[k] = words[k];
    return;
  }
#endif
  for (int k = 0; k < 4 * most; k++)
    if (k < n) to[k] = static_cast<unsigned char>(words[k / 4] >> 8 * (k % 4));
}

}  // namespace avida::packed
