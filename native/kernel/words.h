// Words of four bytes, moved from and to any address. Bytes are those of a little-endian machine.
#pragma once
#include "kernel/macros.h"

namespace avida {

AVIDA_HD AVIDA_INLINE unsigned long address_of(const void* data) { return reinterpret_cast<unsigned long>(data); }

// A GPU reads the words that the bytes lie in: memory is handed out in whole words.
template <int n>
AVIDA_HD AVIDA_INLINE void load_words(const void* from, unsigned (&to)[n]) {
#ifdef __CUDA_ARCH__
  if (n == 4 && address_of(from) % 16 == 0) {
    const uint4 four = *static_cast<const uint4*>(from);
    to[0] = four.x, to[1 % n] = four.y, to[2 % n] = four.z, to[3 % n] = four.w;
    return;
  }
  const unsigned over = address_of(from) % 4, shift = 8 * over;
  const auto* words = reinterpret_cast<const unsigned*>(static_cast<const char*>(from) - over);
#pragma unroll
  for (int k = 0; k < n; k++) to[k] = words[k];
  const unsigned last = shift ? words[n] : 0;
#pragma unroll
  for (int k = 0; k < n; k++) to[k] = __funnelshift_r(to[k], k + 1 < n ? to[k + 1] : last, shift);
#else
  __builtin_memcpy(to, from, sizeof(to));
#endif
}

// As many words at once as the address allows.
template <int n>
AVIDA_HD AVIDA_INLINE void store_words(void* to, const unsigned (&from)[n]) {
#ifdef __CUDA_ARCH__
  if (n % 4 == 0 && address_of(to) % 16 == 0) {
#pragma unroll
    for (int k = 0; k < n / 4; k++)
      static_cast<uint4*>(to)[k] =
          make_uint4(from[4 * k], from[(4 * k + 1) % n], from[(4 * k + 2) % n], from[(4 * k + 3) % n]);
  } else if (n % 2 == 0 && address_of(to) % 8 == 0) {
#pragma unroll
    for (int k = 0; k < n / 2; k++) static_cast<uint2*>(to)[k] = make_uint2(from[2 * k], from[(2 * k + 1) % n]);
  } else if (address_of(to) % 4 == 0) {
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

}  // namespace avida
