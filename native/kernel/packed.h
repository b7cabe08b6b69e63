// Bytes side by side, moved in words.
#pragma once
#include "kernel/macros.h"

namespace avida {

// Reads n bytes (a multiple of four) from any address. A GPU reads the words that they lie in: memory is handed out in
// whole words.
template <int n>
AVIDA_HD AVIDA_INLINE void load_bytes(const void* from, unsigned char (&to)[n]) {
  static_assert(n % 4 == 0);
#ifdef __CUDA_ARCH__
  const unsigned long address = reinterpret_cast<unsigned long>(from);
  const unsigned* words = reinterpret_cast<const unsigned*>(address & ~3ul);
  const unsigned shift = (address & 3) * 8;
  unsigned word = words[0];
#pragma unroll
  for (int k = 0; k < n / 4; k++) {
    const unsigned next = k + 1 < n / 4 || shift ? words[k + 1] : 0;
    const unsigned bytes = __funnelshift_r(word, next, shift);
#pragma unroll
    for (int b = 0; b < 4; b++) to[4 * k + b] = static_cast<unsigned char>(bytes >> 8 * b);
    word = next;
  }
#else
  __builtin_memcpy(to, from, n);
#endif
}

// Elements from number i of `count` on, which repeat.
template <class T, int n>
AVIDA_HD AVIDA_INLINE void load_repeated(const T* from, long i, long count, unsigned char (&to)[n]) {
  for (int k = 0; k < n; k += sizeof(T)) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(from + i);
    for (int b = 0; b < static_cast<int>(sizeof(T)); b++) to[k + b] = bytes[b];
    i = i + 1 == count ? 0 : i + 1;
  }
}

// Writes n bytes (a multiple of four): in words where the address allows.
template <int n>
AVIDA_HD AVIDA_INLINE void store_bytes(void* to, const unsigned char (&from)[n]) {
  static_assert(n % 4 == 0);
#ifdef __CUDA_ARCH__
  if (reinterpret_cast<unsigned long>(to) % 4 == 0) {
#pragma unroll
    for (int k = 0; k < n / 4; k++)
      static_cast<unsigned*>(to)[k] =
          from[4 * k] | from[4 * k + 1] << 8 | from[4 * k + 2] << 16 | static_cast<unsigned>(from[4 * k + 3]) << 24;
    return;
  }
#endif
  for (int k = 0; k < n; k++) static_cast<unsigned char*>(to)[k] = from[k];
}

}  // namespace avida
