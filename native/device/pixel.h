// The channels of one pixel, as bodies of each_pixel see them.
#pragma once
#include "device/convert.h"

namespace avida {

// With a vector type instead of float, it represents several pixels.
template <int N, class Number = float>
struct Pixel {
  Number channel[N];
  AVIDA_HD AVIDA_INLINE Number& operator[](int c) { return channel[c]; }
  AVIDA_HD AVIDA_INLINE const Number& operator[](int c) const { return channel[c]; }
};

// convert<T>(x), with fewer instructions for bytes: bits that are negative as an integer are a negative float, and bits
// above those of infinity are NaN.
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

}  // namespace avida
