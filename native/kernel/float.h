// The two 16-bit floats. They store bits and compute in float. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/macros.h"

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
  // Round to nearest, ties to even; the scaling trick lets the FPU round subnormals.
  AVIDA_HD static unsigned short encode(float f) {
    unsigned u = float_bits(f), sign = u & 0x80000000u;
    u ^= sign;
    unsigned short out;
    if (u >= 0x47800000u) {  // 65536 and above, infinity, NaN
      out = u > 0x7f800000u ? 0x7e00 : 0x7c00;
    } else if (u < 0x38800000u) {  // subnormal in half precision
      out = static_cast<unsigned short>(float_bits(bits_float(u) + 0.5f) - 0x3f000000u);
    } else {
      out = static_cast<unsigned short>((u - 0x38000000u + 0xfffu + ((u >> 13) & 1)) >> 13);
    }
    return static_cast<unsigned short>(out | (sign >> 16));
  }
  AVIDA_HD static float decode(unsigned short h) {
    unsigned sign = (h & 0x8000u) << 16, exponent = h & 0x7c00u, rest = (h & 0x7fffu) << 13;
    if (exponent == 0x7c00u) return bits_float(sign | 0x7f800000u | (rest & 0x7fffffu));
    if (exponent == 0) {
      float f = bits_float(rest + 0x38800000u) - bits_float(0x38800000u);
      return bits_float(float_bits(f) | sign);
    }
    return bits_float(sign | (rest + 0x38000000u));
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
