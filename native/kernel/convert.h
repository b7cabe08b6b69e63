// Conversion between element types: saturating, float to integer rounding half away from zero, NaN to 0.
#pragma once
#include "kernel/float.h"

namespace avida {

template <class T>
struct TypeTraits;  // is_float, is_signed, lowest() and highest() as T

#define AVIDA_INTEGER_TRAITS(T, LOW, HIGH)              \
  template <>                                           \
  struct TypeTraits<T> {                                \
    static constexpr bool is_float = false;             \
    static constexpr bool is_signed = (LOW) != 0;       \
    AVIDA_HD static constexpr T lowest() { return LOW; }    \
    AVIDA_HD static constexpr T highest() { return HIGH; }  \
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

#define AVIDA_FLOAT_TRAITS(T, HIGH)                              \
  template <>                                                    \
  struct TypeTraits<T> {                                         \
    static constexpr bool is_float = true;                       \
    static constexpr bool is_signed = true;                      \
    AVIDA_HD static T lowest() { return T(-(HIGH)); }            \
    AVIDA_HD static T highest() { return T(HIGH); }              \
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

template <class To, class From>
AVIDA_HD AVIDA_INLINE To convert(From from) {
  using Real = typename ComputeType<From>::type;
  if constexpr (__is_same(To, From)) {
    return from;
  } else if constexpr (__is_same(To, bool)) {
    return Real(from) != Real(0);
  } else if constexpr (TypeTraits<To>::is_float) {
    if constexpr (__is_same(To, double)) return static_cast<double>(Real(from));
    else return To(static_cast<float>(Real(from)));
  } else if constexpr (TypeTraits<From>::is_float) {
    Real x = from;
    x = x < 0 ? -static_cast<Real>(__builtin_floor(static_cast<double>(-x) + 0.5))
              : static_cast<Real>(__builtin_floor(static_cast<double>(x) + 0.5));
    // 2^31 and 2^63 are exact as floats, the highest integers are not: compare with the first value out of range.
    if (!(x > static_cast<Real>(TypeTraits<To>::lowest()))) return x == x ? TypeTraits<To>::lowest() : To(0);
    if (x >= static_cast<Real>(TypeTraits<To>::highest())) return TypeTraits<To>::highest();
    return static_cast<To>(x);
  } else {
    if constexpr (TypeTraits<From>::is_signed && !TypeTraits<To>::is_signed) {
      if (from < From(0)) return To(0);
      if (static_cast<unsigned long>(from) > static_cast<unsigned long>(TypeTraits<To>::highest()))
        return TypeTraits<To>::highest();
    } else if constexpr (!TypeTraits<From>::is_signed) {
      if (static_cast<unsigned long>(from) > static_cast<unsigned long>(TypeTraits<To>::highest()))
        return TypeTraits<To>::highest();
    } else {
      if (static_cast<long>(from) > static_cast<long>(TypeTraits<To>::highest())) return TypeTraits<To>::highest();
      if (static_cast<long>(from) < static_cast<long>(TypeTraits<To>::lowest())) return TypeTraits<To>::lowest();
    }
    return static_cast<To>(from);
  }
}

}  // namespace avida
