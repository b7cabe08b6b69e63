// Packed integers in 32-bit words: selecting, packing and multiplying bytes and halves.
#pragma once
#include "device/macros.h"

namespace avida {

// Selects four of the bytes of a (0-3) and b (4-7), by the hexadecimal digits of `order`.
AVIDA_HD AVIDA_INLINE unsigned pick_bytes(unsigned a, unsigned b, unsigned order) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, order);
#else
  const unsigned long both = static_cast<unsigned long>(b) << 32 | a;
  unsigned picked = 0;
  for (int k = 0; k < 4; k++) picked |= static_cast<unsigned>(both >> 8 * (order >> 4 * k & 7) & 0xff) << 8 * k;
  return picked;
#endif
}

// The word at bit offset `bits` of the 64 bits `high`:`low` (a funnel shift).
AVIDA_HD AVIDA_INLINE unsigned word_between(unsigned low, unsigned high, unsigned bits) {
  return static_cast<unsigned>((static_cast<unsigned long>(high) << 32 | low) >> bits);
}

// A word of four bytes, from the lowest eight bits of each argument.
AVIDA_HD AVIDA_INLINE unsigned word_of(unsigned a, unsigned b, unsigned c, unsigned d) {
#ifdef __CUDA_ARCH__
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
#else
  return (a & 255) | (b & 255) << 8 | (c & 255) << 16 | d << 24;
#endif
}

// Four numbers as bytes of a word, saturated.
AVIDA_HD AVIDA_INLINE unsigned saturated_bytes(int a, int b, int c, int d) {
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

// Reads element i of an array of elements of `size` bytes that is packed into words; sets it, if it is still 0.
template <int size>
AVIDA_HD AVIDA_INLINE unsigned part_of(const unsigned* words, int i) {
  if constexpr (size == 4)
    return words[i];
  else
    return words[i * size / 4] >> i * size % 4 * 8 & ((1u << 8 * size) - 1);
}
template <int size>
AVIDA_HD AVIDA_INLINE void add_part(unsigned* words, int i, unsigned part) {
  words[i * size / 4] |= part << i * size % 4 * 8;
}

// sum + factor * number, in one instruction: compilers would add several products to one another first.
AVIDA_HD AVIDA_INLINE constexpr unsigned add_product(int factor, unsigned number, unsigned sum) {
#ifdef __CUDA_ARCH__
  if (!__builtin_is_constant_evaluated()) {
    asm("mad.lo.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(number), "r"(factor));
    return sum;
  }
#endif
  return sum + static_cast<unsigned>(factor) * number;
}

// a + b + c, in one instruction: compilers would keep a + b where it is needed again.
AVIDA_HD AVIDA_INLINE unsigned sum_of(unsigned a, unsigned b, unsigned c) {
#ifdef __CUDA_ARCH__
  unsigned sum;
  asm("{\n"
      ".reg .u32 first;\n"
      "add.u32 first, %1, %2;\n"
      "add.u32 %0, first, %3;\n"
      "}"
      : "=r"(sum)
      : "r"(a), "r"(b), "r"(c));
  return sum;
#else
  return a + b + c;
#endif
}

// sum + the dot product of two signed halves with the two lower bytes of a word.
AVIDA_HD AVIDA_INLINE int dot_low(unsigned halves, unsigned word, int sum) {
#ifdef __CUDA_ARCH__
  asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(halves), "r"(word));
  return sum;
#else
  const int lower = static_cast<short>(halves), upper = static_cast<short>(halves >> 16);
  return sum + lower * static_cast<int>(word & 0xff) + upper * static_cast<int>(word >> 8 & 0xff);
#endif
}

// The same with the two upper bytes.
AVIDA_HD AVIDA_INLINE int dot_high(unsigned halves, unsigned word, int sum) {
#ifdef __CUDA_ARCH__
  asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(halves), "r"(word));
  return sum;
#else
  return dot_low(halves, word >> 16, sum);
#endif
}

// Both for unsigned halves.
AVIDA_HD AVIDA_INLINE unsigned dot_low(unsigned halves, unsigned word, unsigned sum) {
#ifdef __CUDA_ARCH__
  asm("dp2a.lo.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(halves), "r"(word));
  return sum;
#else
  return sum + (halves & 0xffff) * (word & 0xff) + (halves >> 16) * (word >> 8 & 0xff);
#endif
}
AVIDA_HD AVIDA_INLINE unsigned dot_high(unsigned halves, unsigned word, unsigned sum) {
#ifdef __CUDA_ARCH__
  asm("dp2a.hi.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(halves), "r"(word));
  return sum;
#else
  return dot_low(halves, word >> 16, sum);
#endif
}

}  // namespace avida
