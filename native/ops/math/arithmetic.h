// The arithmetic of Python's operators and of the math module, for one element.
#pragma once
#include "device/body.h"
#include "device/math.h"

namespace avida::ops {

// Integers wrap: computed without sign, where overflow is defined.
template <class T>
struct Unsigned {
  using type = T;
};
template <>
struct Unsigned<signed char> {
  using type = unsigned;
};
template <>
struct Unsigned<short> {
  using type = unsigned;
};
template <>
struct Unsigned<unsigned short> {
  using type = unsigned;  // else the product of two would be a signed int
};
template <>
struct Unsigned<int> {
  using type = unsigned;
};
template <>
struct Unsigned<long> {
  using type = unsigned long;
};
template <class T>
using Wrap = typename Unsigned<T>::type;

struct Arithmetic {
  static constexpr const char* header = "ops/math/arithmetic.h";
};

struct Add : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
  }
};
struct Sub : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
  }
};
struct Mul : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
  }
};
struct Div : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    return a / b;
  }
};
// Truncates for integers and is a plain division for floats. An integer divided by zero is an error of the caller's;
// where nobody can raise it, 0.
struct FloorDiv : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    if constexpr (!TypeTraits<T>::is_float)
      if (b == T(0)) return T(0);
    if constexpr (TypeTraits<T>::is_signed && !TypeTraits<T>::is_float)
      if (b == T(-1)) return static_cast<T>(Wrap<T>(0) - static_cast<Wrap<T>>(a));  // the lowest integer wraps
    return static_cast<T>(a / b);
  }
};
// The remainder has the sign of the dividend.
struct Mod : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    if constexpr (TypeTraits<T>::is_float) {
      return math::fmod(a, b);
    } else {
      if (b == T(0)) return T(0);
      if constexpr (TypeTraits<T>::is_signed)
        if (b == T(-1)) return T(0);
      return static_cast<T>(a % b);
    }
  }
};
struct Pow : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T base, T exponent) {
    if constexpr (TypeTraits<T>::is_float) {
      return math::pow(base, exponent);
    } else {
      if constexpr (TypeTraits<T>::is_signed)
        if (exponent < T(0)) return T(0);
      auto power = static_cast<Wrap<T>>(base);
      Wrap<T> result = 1;
      for (auto e = static_cast<unsigned long>(exponent); e; e >>= 1) {
        if (e & 1) result = static_cast<Wrap<T>>(result * power);
        power = static_cast<Wrap<T>>(power * power);
      }
      return static_cast<T>(result);
    }
  }
};
struct Min : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    return a > b ? a : b;
  }
};
struct Clamp : Arithmetic {  // the upper bound wins when the bounds cross
  template <class T>
  AVIDA_HD static T run(T x, T low, T high) {
    T raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};
struct Atan2 : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T y, T x) {
    return math::atan2(y, x);
  }
};

struct BitAnd : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitOr : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitXor : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
// Shift counts are taken modulo 32, or 64 for 64-bit types.
template <class T>
inline constexpr int kShiftMask = sizeof(T) == 8 ? 63 : 31;
struct ShiftLeft : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    return static_cast<T>(static_cast<unsigned long>(a) << (static_cast<int>(b) & kShiftMask<T>));
  }
};
struct ShiftRight : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T a, T b) {
    return static_cast<T>(a >> (static_cast<int>(b) & kShiftMask<T>));
  }
};

struct Equal : Arithmetic {
  template <class T>
  AVIDA_HD static bool run(T a, T b) {
    return a == b;
  }
};
struct NotEqual : Arithmetic {
  template <class T>
  AVIDA_HD static bool run(T a, T b) {
    return a != b;
  }
};
struct Less : Arithmetic {
  template <class T>
  AVIDA_HD static bool run(T a, T b) {
    return a < b;
  }
};
struct LessEqual : Arithmetic {
  template <class T>
  AVIDA_HD static bool run(T a, T b) {
    return a <= b;
  }
};
struct Greater : Arithmetic {
  template <class T>
  AVIDA_HD static bool run(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual : Arithmetic {
  template <class T>
  AVIDA_HD static bool run(T a, T b) {
    return a >= b;
  }
};

struct Plus : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T x) {
    return x;
  }
};
struct Minus : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T x) {
    if constexpr (TypeTraits<T>::is_float)
      return -x;
    else
      return static_cast<T>(Wrap<T>(0) - static_cast<Wrap<T>>(x));
  }
};
struct BitNot : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T x) {
    if constexpr (same_type<T, bool>)
      return !x;
    else
      return static_cast<T>(~x);
  }
};
struct Abs : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T x) {
    if constexpr (TypeTraits<T>::is_signed)
      return x < T(0) ? Minus::run(x) : x;
    else
      return x;
  }
};
struct Rsqrt : Arithmetic {
  template <class T>
  AVIDA_HD static T run(T x) {
    return T(1) / math::sqrt(x);
  }
};

// The functions of one number that the C library has.
#define AVIDA_FUNCTION(STRUCT, NAME) \
  struct STRUCT : Arithmetic {       \
    template <class T>               \
    AVIDA_HD static T run(T x) {     \
      return math::NAME(x);          \
    }                                \
  };
AVIDA_FUNCTION(Acos, acos)
AVIDA_FUNCTION(Acosh, acosh)
AVIDA_FUNCTION(Asin, asin)
AVIDA_FUNCTION(Asinh, asinh)
AVIDA_FUNCTION(Atan, atan)
AVIDA_FUNCTION(Atanh, atanh)
AVIDA_FUNCTION(Cbrt, cbrt)
AVIDA_FUNCTION(Ceil, ceil)
AVIDA_FUNCTION(Cos, cos)
AVIDA_FUNCTION(Cosh, cosh)
AVIDA_FUNCTION(Exp, exp)
AVIDA_FUNCTION(Fabs, fabs)
AVIDA_FUNCTION(Floor, floor)
AVIDA_FUNCTION(Log, log)
AVIDA_FUNCTION(Log10, log10)
AVIDA_FUNCTION(Log2, log2)
AVIDA_FUNCTION(Sin, sin)
AVIDA_FUNCTION(Sinh, sinh)
AVIDA_FUNCTION(Sqrt, sqrt)
AVIDA_FUNCTION(Tan, tan)
AVIDA_FUNCTION(Tanh, tanh)
#undef AVIDA_FUNCTION

}  // namespace avida::ops
