// The channels of one pixel, as bodies of each_pixel see them.
#pragma once
#include "kernel/convert.h"

namespace avida {

// Of a vector of floats in place of one, it is several pixels at once.
template <int N, class Number = float>
struct Pixel {
  Number channel[N];
  AVIDA_HD AVIDA_INLINE Number& operator[](int c) { return channel[c]; }
  AVIDA_HD AVIDA_INLINE const Number& operator[](int c) const { return channel[c]; }
};

// convert<T>(x), and for bytes in fewer instructions: whatever is negative as an integer is a negative float, and those
// above infinity are not numbers.
template <class T>
AVIDA_HD AVIDA_INLINE T store_channel(float x) {
  if constexpr (same_type<T, unsigned char>) {
    constexpr int largest = __builtin_bit_cast(int, 255.0f);
    int bits = __builtin_bit_cast(int, x);
    bits = bits > FloatBits<float>::infinity ? 0 : bits;
    bits = bits > 0 ? bits : 0;
    bits = bits < largest ? bits : largest;
    return static_cast<unsigned char>(static_cast<int>(__builtin_bit_cast(float, bits) + FloatBits<float>::below_half));
  } else {
    return convert<T>(x);
  }
}

// The same in the lowest byte of a word, whatever the others hold.
AVIDA_HD AVIDA_INLINE unsigned byte_channel(float x) {
#ifdef __CUDA_ARCH__
  // The larger of 0 and what is no number is 0; adding 2^23 drops the fraction, as the rounding says.
  const float inside = fminf(fmaxf(x, 0.0f), 255.0f) + FloatBits<float>::below_half;
  return __float_as_uint(__fadd_rz(inside, 0x1p23f));
#else
  return store_channel<unsigned char>(x);
#endif
}

}  // namespace avida
