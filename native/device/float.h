// The two 16-bit floats. They store bits and compute in float. Read by NVRTC too: no std headers.
#pragma once
#include "device/macros.h"

namespace avida {

AVIDA_HD inline unsigned float_bits(float f) { return __builtin_bit_cast(unsigned, f); }
AVIDA_HD inline float bits_float(unsigned u) { return __builtin_bit_cast(float, u); }

struct float16 {
  unsigned short bits;

  float16() = default;
  AVIDA_HD explicit float16(float f) : bits(encode(f)) {}
  AVIDA_HD operator float() const { return decode(bits); }
  AVIDA_HD static float16 from_bits(unsigned short b) {
    float16 h;
    h.bits = b;
    return h;
  }

 private:
  // Rounds to nearest, halfway cases away from zero.
  AVIDA_HD AVIDA_INLINE static unsigned short encode(float f) {
    unsigned u = float_bits(f), sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    unsigned is_small = 0u - (u < 0x38800000u);                          // subnormal as float16
    float scaled = bits_float(u & is_small) * 0x1p24f + 0x1.fffffep-2f;  // see to_integer in convert.h
    unsigned small = static_cast<unsigned>(static_cast<int>(scaled));
    unsigned normal = (u - 0x38000000u + 0x1000u) >> 13;
    unsigned special = u > 0x7f800000u ? 0x7e00u : 0x7c00u;  // NaN, or too large
    unsigned large = u >= 0x47800000u ? special : normal;
    return static_cast<unsigned short>(choose(is_small, small, large) | sign);
  }
  AVIDA_HD AVIDA_INLINE static float decode(unsigned short h) {
    unsigned sign = (h & 0x8000u) << 16, exponent = h & 0x7c00u, rest = (h & 0x7fffu) << 13;
    unsigned small = float_bits(static_cast<float>(static_cast<int>(h & 0x3ffu)) * 0x1p-24f);
    unsigned large = exponent == 0x7c00u ? rest | 0x7f800000u : rest + 0x38000000u;
    return bits_float(choose(0u - (exponent == 0), small, large) | sign);
  }
  // Selects `yes` if `mask` is all ones. With a ternary the compiler moves the computation of `yes` into a branch, and
  // loops do not vectorise.
  AVIDA_HD AVIDA_INLINE static unsigned choose(unsigned mask, unsigned yes, unsigned no) {
    return (yes & mask) | (no & ~mask);
  }
};

struct bfloat16 {
  unsigned short bits;

  bfloat16() = default;
  AVIDA_HD explicit bfloat16(float f) {
    unsigned u = float_bits(f);
    bits = static_cast<unsigned short>((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u
                                                                       : (u + 0x7fffu + ((u >> 16) & 1)) >> 16);
  }
  AVIDA_HD operator float() const { return bits_float(static_cast<unsigned>(bits) << 16); }
};

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2, "16-bit floats must take two bytes");

}  // namespace avida
