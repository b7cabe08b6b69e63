// Bytes and 16-bit integers as floats, which a GPU adds and multiplies at full rate, without its slow conversion
// instructions: a float between 2^23 and 2^24 has an integer in its low bits.
#pragma once
#include "device/convert.h"
#include "device/math.h"
#include "device/packed.h"

namespace avida {

constexpr float kLift = 8388608;  // 2^23

// 2^23 + byte k of a word.
AVIDA_HD AVIDA_INLINE float lifted_byte(unsigned word, int k) {
  return bits_float(pick_bytes(word, 0x4b000000u, 0x7440u | static_cast<unsigned>(k)));
}

AVIDA_HD AVIDA_INLINE float float_of_byte(unsigned word, int k) { return lifted_byte(word, k) - kLift; }
AVIDA_HD AVIDA_INLINE float float_of_byte(unsigned char byte) { return bits_float(0x4b000000u | byte) - kLift; }

// A factor for lifted bytes. A fused multiply-add rounds once: it subtracts the 2^23, and gives the product with the
// byte itself.
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

// 2^23 + the integer part of a number from 0 to below 2^23. The bits of other numbers, as unsigned integers, are less
// than those of 2^23, or at least those of 2^24.
AVIDA_HD AVIDA_INLINE float lifted_whole(float x) {
#ifdef __CUDA_ARCH__
  return __fadd_rd(x, kLift);
#else
  if (!(x >= 0)) return 0;
  return kLift + (x < kLift ? static_cast<float>(static_cast<int>(x)) : kLift);
#endif
}

// As convert(), for a number from 0 to below 255.5.
AVIDA_HD AVIDA_INLINE unsigned char rounded_byte(float x) {
  return static_cast<unsigned char>(float_bits(lifted_whole(x + FloatBits<float>::below_half)));
}

// As convert(), for any number: the result is the lowest byte of a word; the other bytes are undefined.
AVIDA_HD AVIDA_INLINE unsigned saturated_byte(float x) {
#ifdef __CUDA_ARCH__
  // The maximum of 0 and NaN is 0.
  return float_bits(lifted_whole(fminf(fmaxf(x, 0.0f), 255.0f) + FloatBits<float>::below_half));
#else
  return convert<unsigned char>(x);
#endif
}

// ---- Weighted sums --------------------------------------------------------------------------------------------------

// Sums contain a bias, which their initial value compensates.
constexpr float kPackedBias = 32768;      // the bias of a number
constexpr float kPackedMiddle = 16384;    // added to signed numbers before they are packed
constexpr float kPackedZero = 0x1.8p23f;  // sums around this number are integers whose low 16 bits can be packed

// Byte k of a word, or half k of a word, which is below 32768, plus kPackedBias.
AVIDA_HD AVIDA_INLINE float biased_byte(unsigned word, int k) {
  return bits_float(pick_bytes(word, 0x47000000u, 0x7404u | static_cast<unsigned>(k) << 4));
}
template <int half>
AVIDA_HD AVIDA_INLINE float biased_half(unsigned word) {
  return bits_float(pick_bytes(word, 0x47000000u, half ? 0x7324u : 0x7104u));
}
// The low 16 bits of two sums around kPackedZero.
AVIDA_HD AVIDA_INLINE unsigned pack_halves(float low, float high) {
  return pick_bytes(float_bits(low), float_bits(high), 0x5410);
}

// sum + x * weight, rounded down; the sum is an integer between 2^23 and 2^24, so that only the product is rounded.
AVIDA_HD AVIDA_INLINE float add_rounded_down(float sum, float x, float weight) {
#ifdef __CUDA_ARCH__
  return __fmaf_rd(x, weight, sum);
#else
  return sum + static_cast<float>(math::floor(static_cast<double>(x) * static_cast<double>(weight)));
#endif
}

}  // namespace avida
