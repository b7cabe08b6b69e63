// Sums of bytes and of 16-bit numbers in floats, which add and multiply at the full rate of a GPU. An integer becomes a
// float by putting its bits into the fraction of a power of two: weighted sums carry that power along, and what sums
// begin with takes it away.
#pragma once
#include "kernel/convert.h"
#include "kernel/math.h"
#include "kernel/unroll.h"

namespace avida {

constexpr float kPackedBias = 32768;      // what biased numbers are more than what they stand for
constexpr float kPackedMiddle = 16384;    // what is added to numbers of either sign before they are packed
constexpr float kPackedZero = 0x1.8p23f;  // sums around this are integers whose last 16 bits can be packed

// Four of the bytes of a (numbers 0-3) and b (4-7), by the hexadecimal digits of `order`.
AVIDA_HD AVIDA_INLINE unsigned pick_bytes(unsigned a, unsigned b, unsigned order) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, order);
#else
  unsigned long both = static_cast<unsigned long>(b) << 32 | a;
  unsigned picked = 0;
  for (int k = 0; k < 4; k++) picked |= static_cast<unsigned>(both >> 8 * (order >> 4 * k & 7) & 0xff) << 8 * k;
  return picked;
#endif
}

// Byte k of a word, and one half of it, which is below 32768: as kPackedBias more.
AVIDA_HD AVIDA_INLINE float biased_byte(unsigned word, int k) {
  return bits_float(pick_bytes(word, 0x47000000u, 0x7404u | static_cast<unsigned>(k) << 4));
}
template <int half>
AVIDA_HD AVIDA_INLINE float biased_half(unsigned word) {
  return bits_float(pick_bytes(word, 0x47000000u, half ? 0x7324u : 0x7104u));
}
AVIDA_HD AVIDA_INLINE float byte_as_float(unsigned word, int k) {
  return bits_float(pick_bytes(word, 0x4b000000u, 0x7440u | static_cast<unsigned>(k))) - 0x1p23f;
}
// The last 16 bits of two sums around kPackedZero.
AVIDA_HD AVIDA_INLINE unsigned pack_halves(float low, float high) {
  return pick_bytes(float_bits(low), float_bits(high), 0x5410);
}

// sum + x * weight, rounded down; the sum is a whole number between 2^23 and 2^24, so that the product alone is
// rounded.
AVIDA_HD AVIDA_INLINE float add_rounded_down(float sum, float x, float weight) {
#ifdef __CUDA_ARCH__
  return __fmaf_rd(x, weight, sum);
#else
  return sum + static_cast<float>(math::floor(static_cast<double>(x) * static_cast<double>(weight)));
#endif
}

// The word that begins at an element: of bytes at any address, from the words that they lie in.
template <bool in_words>
AVIDA_HD AVIDA_INLINE unsigned load_word(const unsigned char* from) {
#ifdef __CUDA_ARCH__
  if constexpr (in_words) return __ldg(reinterpret_cast<const unsigned*>(from));
  const unsigned long address = reinterpret_cast<unsigned long>(from);
  const unsigned* words = reinterpret_cast<const unsigned*>(address & ~3ul);
  const unsigned shift = (address & 3) * 8, low = __ldg(words);
  return __funnelshift_r(low, shift ? __ldg(words + 1) : 0, shift);
#else
  unsigned word;
  __builtin_memcpy(&word, from, sizeof(word));
  return word;
#endif
}
template <bool in_words>
AVIDA_HD AVIDA_INLINE unsigned load_word(const float* from) {
#ifdef __CUDA_ARCH__
  return float_bits(__ldg(from));
#else
  return float_bits(*from);
#endif
}

// Four floats from an aligned address.
AVIDA_HD AVIDA_INLINE void load_floats(const unsigned* from, float (&to)[4]) {
#ifdef __CUDA_ARCH__
  const uint4 words = *reinterpret_cast<const uint4*>(from);
  const unsigned all[4] = {words.x, words.y, words.z, words.w};
#else
  const unsigned* all = from;
#endif
  for (int k = 0; k < 4; k++) to[k] = bits_float(all[k]);
}

// Two bytes, as number i of those that lie in words.
AVIDA_HD AVIDA_INLINE void put_short(unsigned* words, int i, unsigned both) {
#ifdef __CUDA_ARCH__
  reinterpret_cast<unsigned short*>(words)[i] = static_cast<unsigned short>(both);
#else
  __builtin_memcpy(reinterpret_cast<char*>(words) + 2 * i, &both, 2);
#endif
}

// A whole word, to where words begin; or up to `count` of its bytes.
template <bool whole>
AVIDA_HD AVIDA_INLINE void store_word(unsigned char* to, unsigned word, int count) {
  if constexpr (whole) {
    *reinterpret_cast<unsigned*>(to) = word;
  } else {
    AVIDA_DO_NOT_UNROLL
    for (int k = 0; k < 4 && k < count; k++) to[k] = static_cast<unsigned char>(word >> 8 * k);
  }
}

}  // namespace avida
