// Bytes as floats, without the slow instructions of a GPU that convert: a float between 2^23 and 2^24 has an integer in
// its low bits.
#pragma once
#include "kernel/convert.h"

namespace avida {

constexpr float kLift = 8388608;  // 2^23

// 2^23 + byte k of a word.
AVIDA_HD AVIDA_INLINE float lifted_byte(unsigned word, int k) {
#ifdef __CUDA_ARCH__
  return __int_as_float(static_cast<int>(__byte_perm(word, 0x4B000000u, 0x7540u | static_cast<unsigned>(k))));
#else
  return bits_float(0x4B000000u | (word >> 8 * k & 255u));
#endif
}

// A number that lifted bytes are multiplied with. A fused multiplication and addition rounds once: it takes the 2^23
// off, and gives what the multiplication of the byte itself gives.
struct ByteFactor {
  float factor, lift;
  AVIDA_HD AVIDA_INLINE explicit ByteFactor(float x) : factor(x), lift(x * -kLift) {}
  AVIDA_HD AVIDA_INLINE float operator()(float lifted) const {
#ifdef __CUDA_ARCH__
    return __fmaf_rn(lifted, factor, lift);
#else
    return __builtin_fmaf(lifted, factor, lift);
#endif
  }
};

// 2^23 + the whole part of a number from 0 to below 2^23. The bits of others, as unsigned integers, are less than those
// of 2^23, or at least those of 2^24.
AVIDA_HD AVIDA_INLINE float lifted_whole(float x) {
#ifdef __CUDA_ARCH__
  return __fadd_rd(x, kLift);
#else
  if (!(x >= 0)) return 0;
  return kLift + (x < kLift ? static_cast<float>(static_cast<int>(x)) : kLift);
#endif
}

// As convert(), of a number from 0 to below 255.5.
AVIDA_HD AVIDA_INLINE unsigned char rounded_byte(float x) {
  return static_cast<unsigned char>(float_bits(lifted_whole(x + FloatBits<float>::below_half)));
}

}  // namespace avida
