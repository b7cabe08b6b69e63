// Words of four bytes, moved from and to any address. Bytes are those of a little-endian machine.
#pragma once
#include "kernel/macros.h"

namespace avida {

AVIDA_HD AVIDA_INLINE unsigned long address_of(const void* data) { return reinterpret_cast<unsigned long>(data); }

// A GPU reads the words that the bytes lie in: memory is handed out in whole words. `known` divides the
// address; the last `spare` bytes may be anything.
template <int known = 1, int spare = 0, int n>
AVIDA_HD AVIDA_INLINE void load_words(const void* from, unsigned (&to)[n]) {
#ifdef __CUDA_ARCH__
  if (n % 4 == 0 && spare == 0 && address_of(from) % 16 == 0) {
#pragma unroll
    for (int k = 0; k < n / 4; k++) {
      const uint4 four = static_cast<const uint4*>(from)[k];
      to[4 * k] = four.x, to[(4 * k + 1) % n] = four.y, to[(4 * k + 2) % n] = four.z, to[(4 * k + 3) % n] = four.w;
    }
    return;
  }
  const unsigned over = known % 4 ? address_of(from) % 4 : 0, shift = 8 * over;
  const auto* words = reinterpret_cast<const unsigned*>(static_cast<const char*>(from) - over);
#pragma unroll
  for (int k = 0; k < n; k++) to[k] = words[k];
  const unsigned last = over > spare ? words[n] : 0;
#pragma unroll
  for (int k = 0; k < n; k++) to[k] = __funnelshift_r(to[k], k + 1 < n ? to[k + 1] : last, shift);
#else
  to[n - 1] = 0;
  __builtin_memcpy(to, from, sizeof(to) - spare);
#endif
}

// As many words at once as the address allows; `known` divides it. Compilers would cut plain assignments of several
// words again.
template <int known = 1, int n>
AVIDA_HD AVIDA_INLINE void store_words(void* to, const unsigned (&from)[n]) {
#ifdef __CUDA_ARCH__
  if (n % 4 == 0 && (known % 16 == 0 || address_of(to) % 16 == 0)) {
#pragma unroll
    for (int k = 0; k < n / 4; k++)
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(static_cast<uint4*>(to) + k), "r"(from[4 * k]),
                   "r"(from[(4 * k + 1) % n]), "r"(from[(4 * k + 2) % n]), "r"(from[(4 * k + 3) % n])
                   : "memory");
  } else if (n % 2 == 0 && address_of(to) % 8 == 0) {
#pragma unroll
    for (int k = 0; k < n / 2; k++)
      asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(static_cast<uint2*>(to) + k), "r"(from[2 * k]),
                   "r"(from[(2 * k + 1) % n])
                   : "memory");
  } else if (known % 4 == 0 || address_of(to) % 4 == 0) {
#pragma unroll
    for (int k = 0; k < n; k++) static_cast<unsigned*>(to)[k] = from[k];
  } else {
#pragma unroll
    for (int k = 0; k < 4 * n; k++)
      static_cast<unsigned char*>(to)[k] = static_cast<unsigned char>(from[k / 4] >> k % 4 * 8);
  }
#else
  __builtin_memcpy(to, from, sizeof(from));
#endif
}

// The word that begins so many bits after the beginning of `low`, before `high`.
AVIDA_HD AVIDA_INLINE unsigned word_between(unsigned low, unsigned high, unsigned bits) {
  return static_cast<unsigned>((static_cast<unsigned long>(high) << 32 | low) >> bits);
}

// A word of four bytes; only the lowest eight bits of each count.
AVIDA_HD AVIDA_INLINE unsigned word_of(unsigned a, unsigned b, unsigned c, unsigned d) {
#ifdef __CUDA_ARCH__
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
#else
  return (a & 255) | (b & 255) << 8 | (c & 255) << 16 | d << 24;
#endif
}

// Byte k of a word as a float. A GPU converts slowly, but computes fast: behind the exponent of 2^23, the lowest bits
// count ones.
AVIDA_HD AVIDA_INLINE float float_of_byte(unsigned word, int k) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7440u | static_cast<unsigned>(k))) - 0x1p23f;
#else
  return static_cast<float>(word >> 8 * k & 255);
#endif
}

// The same for n elements of one type.
template <class T, int n>
struct Elements {
  T at[n];
};
template <int n, class T>
AVIDA_HD AVIDA_INLINE Elements<T, n> load_elements(const T* from) {
  Elements<unsigned, n * sizeof(T) / 4> words;
  load_words<sizeof(T)>(from, words.at);
  return __builtin_bit_cast(Elements<T, n>, words);
}
template <class T, int n>
AVIDA_HD AVIDA_INLINE void store_elements(T* to, const Elements<T, n>& elements) {
  store_words<sizeof(T)>(to, __builtin_bit_cast(Elements<unsigned, n * sizeof(T) / 4>, elements).at);
}

// Element i of an array of elements of `size` bytes in words, and the place of one in them.
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

// How many elements (of `size` bytes) before `row` lies a piece that begins at a multiple of `aligned` bytes; 0 if none
// does. `most` elements are a piece.
template <int size, int aligned, int most>
AVIDA_HD AVIDA_INLINE int lead_of(const void* row) {
  const int over = static_cast<int>(address_of(row) % aligned);
  if constexpr (aligned % size == 0) return over / size;
  int lead = 0;
  for (int l = most - 1; l >= 0; l--)
    if ((over + (aligned - 1) * size * l) % aligned == 0) lead = l;
  return lead;
}

}  // namespace avida
