// Bytes and 16-bit numbers as floats, which add and multiply at the full rate of a GPU, without its slow instructions
// that convert: a float between 2^23 and 2^24 has an integer in its low bits.
#pragma once
#include "kernel/convert.h"
#include "kernel/math.h"
#include "kernel/packed.h"

namespace avida {

constexpr float kLift = 8388608;  // 2^23

// 2^23 + byte k of a word.
AVIDA_HD AVIDA_INLINE float lifted_byte(unsigned word, int k) {
  return bits_float(pick_bytes(word, 0x4b000000u, 0x7440u | static_cast<unsigned>(k)));
}

AVIDA_HD AVIDA_INLINE float float_of_byte(unsigned word, int k) { return lifted_byte(word, k) - kLift; }
AVIDA_HD AVIDA_INLINE float float_of_byte(unsigned char byte) { return bits_float(0x4b000000u | byte) - kLift; }

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

// As convert(), of any number: in the lowest byte of a word, whatever the others hold.
AVIDA_HD AVIDA_INLINE unsigned saturated_byte(float x) {
#ifdef __CUDA_ARCH__
  // The larger of 0 and what is no number is 0.
  return float_bits(lifted_whole(fminf(fmaxf(x, 0.0f), 255.0f) + FloatBits<float>::below_half));
#else
  return convert<unsigned char>(x);
#endif
}

// ---- Weighted sums --------------------------------------------------------------------------------------------------

// They carry a bias along, and what they begin with takes it away.
constexpr float kPackedBias = 32768;      // what biased numbers are more than what they stand for
constexpr float kPackedMiddle = 16384;    // what is added to numbers of either sign before they are packed
constexpr float kPackedZero = 0x1.8p23f;  // sums around this are integers whose last 16 bits can be packed

// Byte k of a word, and one half of it, which is below 32768: as kPackedBias more.
AVIDA_HD AVIDA_INLINE float biased_byte(unsigned word, int k) {
  return bits_float(pick_bytes(word, 0x47000000u, 0x7404u | static_cast<unsigned>(k) << 4));
}
template <int half>
AVIDA_HD AVIDA_INLINE float biased_half(unsigned word) {
  return bits_float(pick_bytes(word, 0x47000000u, half ? 0x7324u : 0x7104u));
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

}  // namespace avida
