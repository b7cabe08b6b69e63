// Conversion between element types: saturating, NaN to 0.
#pragma once
#include "device/float.h"

namespace avida {

template <class A, class B>
constexpr bool same_type = false;
template <class A>
constexpr bool same_type<A, A> = true;

template <class T>
struct TypeTraits;  // is_float, is_signed, lowest() and highest() as T

#define AVIDA_INTEGER_TRAITS(T, LOW, HIGH)                 \
  template <>                                              \
  struct TypeTraits<T> {                                   \
    static constexpr bool is_float = false;                \
    static constexpr bool is_signed = (LOW) != 0;          \
    AVIDA_HD static constexpr T lowest() { return LOW; }   \
    AVIDA_HD static constexpr T highest() { return HIGH; } \
  };
AVIDA_INTEGER_TRAITS(bool, false, true)
AVIDA_INTEGER_TRAITS(unsigned char, 0, 0xff)
AVIDA_INTEGER_TRAITS(unsigned short, 0, 0xffff)
AVIDA_INTEGER_TRAITS(unsigned int, 0, 0xffffffffu)
AVIDA_INTEGER_TRAITS(unsigned long, 0, ~0ul)
AVIDA_INTEGER_TRAITS(signed char, -0x80, 0x7f)
AVIDA_INTEGER_TRAITS(short, -0x8000, 0x7fff)
AVIDA_INTEGER_TRAITS(int, -0x7fffffff - 1, 0x7fffffff)
AVIDA_INTEGER_TRAITS(long, -0x7fffffffffffffffl - 1, 0x7fffffffffffffffl)
#undef AVIDA_INTEGER_TRAITS

#define AVIDA_FLOAT_TRAITS(T, HIGH)                   \
  template <>                                         \
  struct TypeTraits<T> {                              \
    static constexpr bool is_float = true;            \
    static constexpr bool is_signed = true;           \
    AVIDA_HD static T lowest() { return T(-(HIGH)); } \
    AVIDA_HD static T highest() { return T(HIGH); }   \
  };
AVIDA_FLOAT_TRAITS(float16, 65504.0f)
AVIDA_FLOAT_TRAITS(bfloat16, 3.3895313892515355e38f)
AVIDA_FLOAT_TRAITS(float, 3.4028234663852886e38f)
AVIDA_FLOAT_TRAITS(double, 1.7976931348623157e308)
#undef AVIDA_FLOAT_TRAITS

// The type in which values of type T are computed: itself, or float for the 16-bit floats.
template <class T>
struct ComputeType {
  using type = T;
};
template <>
struct ComputeType<float16> {
  using type = float;
};
template <>
struct ComputeType<bfloat16> {
  using type = float;
};

// Between integers, with saturation. Only bounds that From can exceed are checked.
template <class To, class From>
AVIDA_HD AVIDA_INLINE To saturate(From from) {
  constexpr bool can_be_low = TypeTraits<From>::is_signed && (!TypeTraits<To>::is_signed || sizeof(To) < sizeof(From));
  constexpr bool can_be_high =
      static_cast<unsigned long>(TypeTraits<From>::highest()) > static_cast<unsigned long>(TypeTraits<To>::highest());
  if constexpr (can_be_low) {
    constexpr From low = static_cast<From>(TypeTraits<To>::lowest());
    from = from > low ? from : low;
  }
  if constexpr (can_be_high) {
    constexpr From high = static_cast<From>(TypeTraits<To>::highest());
    from = from < high ? from : high;
  }
  return static_cast<To>(from);
}

// A float type and the integer type of its size: magnitudes have the same order in both.
template <class Real>
struct FloatBits;
template <>
struct FloatBits<float> {
  using type = int;
  static constexpr int infinity = 0x7f800000, mantissa_bits = 23, bias = 127;
  static constexpr float below_half = 0x1.fffffep-2f;
};
template <>
struct FloatBits<double> {
  using type = long;
  static constexpr long infinity = 0x7ff0000000000000l, mantissa_bits = 52, bias = 1023;
  static constexpr double below_half = 0x1.fffffffffffffp-2;
};

// Float to integer, with saturation. It compares the bits as integers, so that compilers generate no branches and loops
// vectorise.
template <bool rounds, class To, class Real>
AVIDA_HD AVIDA_INLINE To to_integer(Real x) {
  using Format = FloatBits<Real>;
  using Bits = typename Format::type;
  Bits bits = __builtin_bit_cast(Bits, x);
  int sign = static_cast<int>(bits >> (8 * sizeof(Bits) - 1));  // 0 or -1
  Bits magnitude = bits & ~(Bits(1) << (8 * sizeof(Bits) - 1));
  // Truncating x + 0.5 would round half up, but x + 0.5 is 1 for the largest x below 0.5. Adding the
  // largest value below 0.5 is correct for every x.
  if constexpr (rounds) magnitude = __builtin_bit_cast(Bits, __builtin_bit_cast(Real, magnitude) + Format::below_half);

  // The first magnitude, a power of two, that is out of range; small types are converted through int.
  constexpr bool small = sizeof(To) < 4;
  constexpr int exponent = small ? 30 : 8 * static_cast<int>(sizeof(To)) - TypeTraits<To>::is_signed;
  constexpr Bits limit = static_cast<Bits>(exponent + Format::bias) << Format::mantissa_bits;
  Real inside = __builtin_bit_cast(Real, magnitude < limit ? magnitude : limit - 1);
  bool nan = magnitude > Format::infinity;
  if constexpr (small) {
    int value = (static_cast<int>(inside) ^ sign) - sign;
    return saturate<To>(nan ? 0 : value);
  } else {
    To ones = static_cast<To>(sign);
    To value = TypeTraits<To>::is_signed ? (static_cast<To>(inside) ^ ones) - ones : static_cast<To>(inside) & ~ones;
    To beyond = TypeTraits<To>::is_signed ? TypeTraits<To>::highest() ^ ones : TypeTraits<To>::highest() & ~ones;
    return nan ? To(0) : magnitude < limit ? value : beyond;
  }
}

// Infinity becomes the largest finite number, whose bits precede those of infinity.
AVIDA_HD AVIDA_INLINE float16 largest_for_infinity(float16 x) {
  x.bits = static_cast<unsigned short>(x.bits - ((x.bits & 0x7fff) == 0x7c00));
  return x;
}
AVIDA_HD AVIDA_INLINE bfloat16 largest_for_infinity(bfloat16 x) {
  x.bits = static_cast<unsigned short>(x.bits - ((x.bits & 0x7fff) == 0x7f80));
  return x;
}
AVIDA_HD AVIDA_INLINE float largest_for_infinity(float x) {
  return bits_float(float_bits(x) - ((float_bits(x) & 0x7fffffffu) == 0x7f800000u));
}

template <bool rounds, class To, class From>
AVIDA_HD AVIDA_INLINE To convert_element(From from) {
  using Real = typename ComputeType<From>::type;
  if constexpr (same_type<To, From>) {
    return from;
  } else if constexpr (TypeTraits<To>::is_float) {
    To to = To(static_cast<typename ComputeType<To>::type>(Real(from)));
    if constexpr (rounds || same_type<To, double>)
      return to;
    else
      return largest_for_infinity(to);
  } else if constexpr (!TypeTraits<From>::is_float) {
    if constexpr (same_type<To, bool>)
      return from != From(0);
    else
      return saturate<To>(from);
  } else {
    Real x = from;
    if constexpr (same_type<To, bool>) {
      constexpr Real least = rounds ? Real(0.5) : Real(1);
      return !((x > -least) & (x < least));
    } else {
      return to_integer<rounds, To>(x);
    }
  }
}

// Float to integer rounds half away from zero; to bool, everything that does not round to 0 is true.
template <class To, class From>
AVIDA_HD AVIDA_INLINE To convert(From from) {
  return convert_element<true, To>(from);
}

// As convert, but float to integer (and to bool) truncates, and numbers that are too large for a float type become its
// largest finite number, not infinity.
template <class To, class From>
AVIDA_HD AVIDA_INLINE To truncate(From from) {
  return convert_element<false, To>(from);
}

}  // namespace avida
