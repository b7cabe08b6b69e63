// How reductions accumulate elements. A fold of elements of type T has
//   Partial   takes up to 65,536 elements, so that narrow integers add up in 32 bits
//   Total     takes any number of them
// Integers add up exactly, floats in double precision.
#pragma once
#include "device/body.h"

namespace avida::ops {

constexpr const char* kFoldHeader = "ops/reductions/fold.h";

using Int128 = __int128;

template <bool B, class Yes, class No>
struct Choose {
  using type = Yes;
};
template <class Yes, class No>
struct Choose<false, Yes, No> {
  using type = No;
};
template <bool B, class Yes, class No>
using choose = typename Choose<B, Yes, No>::type;

template <class Real>
AVIDA_HD AVIDA_INLINE Real infinity() {
  return __builtin_bit_cast(Real, FloatBits<Real>::infinity);
}

// An integer type of 4 or 8 bytes, signed like T.
template <class T>
using Int32Like = choose<TypeTraits<T>::is_signed, int, unsigned>;
template <class T>
using Int64Like = choose<TypeTraits<T>::is_signed, long, unsigned long>;

// Sums wrap around at 64 bits.
template <class I>
AVIDA_HD AVIDA_INLINE I wrapping_add(I a, I b) {
  if constexpr (same_type<I, long>)
    return static_cast<long>(static_cast<unsigned long>(a) + static_cast<unsigned long>(b));
  else
    return a + b;
}

// The sum.
template <class T>
struct AddUp {
  static constexpr const char* header = kFoldHeader;
  static constexpr bool is_float = TypeTraits<T>::is_float, centered = false;
  using Total = choose<is_float, double, Int64Like<T>>;
  using Partial = choose<!is_float && sizeof(T) <= 2, Int32Like<T>, Total>;
  AVIDA_HD static Partial start() { return 0; }
  AVIDA_HD AVIDA_INLINE static Partial add(Partial sum, T x) {
    return wrapping_add(sum, static_cast<Partial>(static_cast<typename ComputeType<T>::type>(x)));
  }
  AVIDA_HD AVIDA_INLINE static Total join(Total a, Total b) { return wrapping_add(a, b); }
};

template <class T>
struct AddUpIn128Bits {
  static constexpr const char* header = kFoldHeader;
  static constexpr bool centered = false;
  using Total = Int128;
  using Partial = Int128;
  AVIDA_HD static Partial start() { return 0; }
  AVIDA_HD AVIDA_INLINE static Partial add(Partial sum, T x) { return sum + x; }
  AVIDA_HD AVIDA_INLINE static Total join(Total a, Total b) { return a + b; }
};

// The sum without wrapping, for what is divided afterwards.
template <class T>
using AddUpWide = choose<!TypeTraits<T>::is_float && sizeof(T) == 8, AddUpIn128Bits<T>, AddUp<T>>;

// The sum of squares. Those of 64-bit integers are beyond any integer type.
template <class T>
struct AddSquares {
  static constexpr const char* header = kFoldHeader;
  static constexpr bool in_double = TypeTraits<T>::is_float || sizeof(T) == 8, centered = false;
  using Total = choose<in_double, double, choose<sizeof(T) == 4, Int128, unsigned long>>;
  using Partial = choose<sizeof(T) == 1, unsigned, Total>;
  using Square = choose<in_double, double, choose<sizeof(T) == 1, int, long>>;
  AVIDA_HD static Partial start() { return 0; }
  AVIDA_HD AVIDA_INLINE static Partial add(Partial sum, T x) {
    Square wide = static_cast<Square>(static_cast<typename ComputeType<T>::type>(x));
    if constexpr (same_type<T, unsigned>)
      return sum + static_cast<unsigned long>(x) * x;
    else
      return sum + static_cast<Partial>(wide * wide);
  }
  AVIDA_HD AVIDA_INLINE static Total join(Total a, Total b) { return a + b; }
};

// The sum of squared distances from a mean.
template <class T>
struct AddDistancesInDouble {
  static constexpr const char* header = kFoldHeader;
  static constexpr bool centered = true;
  using Total = double;
  using Partial = double;
  AVIDA_HD static Partial start() { return 0; }
  AVIDA_HD AVIDA_INLINE static Partial add(Partial sum, T x, double center) {
    double distance = static_cast<double>(static_cast<typename ComputeType<T>::type>(x)) - center;
    return sum + distance * distance;
  }
  AVIDA_HD AVIDA_INLINE static Total join(Total a, Total b) { return a + b; }
};

// Sums of bytes and of their squares, which are exact: the sum of squared distances from any mean follows from them.
struct ByteMoments {
  unsigned long sum, squares;

  ByteMoments() = default;
  // A partial has the squares in its upper half.
  AVIDA_HD AVIDA_INLINE ByteMoments(unsigned long partial) : sum(partial & 0xffffffff), squares(partial >> 32) {}

  // Exact for the integer next to the mean. The rest of the mean is less than a half, so that nothing cancels out.
  AVIDA_HD AVIDA_INLINE double distances(long count, double mean) const {
    const long near = mean >= 255 ? 255 : mean > 0 ? static_cast<long>(mean + 0.5) : 0, all = static_cast<long>(sum);
    const double rest = mean - static_cast<double>(near);
    const double to_near = static_cast<double>(static_cast<long>(squares) - 2 * near * all + count * near * near);
    const double beyond = static_cast<double>(all - count * near);
    return to_near + rest * (static_cast<double>(count) * rest - 2 * beyond);
  }
};
struct AddByteMoments {
  static constexpr const char* header = kFoldHeader;
  static constexpr bool centered = false;
  using Total = ByteMoments;
  using Partial = unsigned long;
  using Sums = AddUp<unsigned char>;  // what it is made of
  using Squares = AddSquares<unsigned char>;
  AVIDA_HD static Partial start() { return 0; }
  AVIDA_HD AVIDA_INLINE static Partial add(Partial sum, unsigned char x) {
    return sum + (static_cast<unsigned long>(static_cast<unsigned>(x) * x) << 32 | x);
  }
  AVIDA_HD AVIDA_INLINE static Total join(Total a, Total b) {
    a.sum += b.sum, a.squares += b.squares;
    return a;
  }
};

template <class T>
using AddDistances = choose<same_type<T, unsigned char>, AddByteMoments, AddDistancesInDouble<T>>;

// The least element; NaN is ignored.
template <class T>
struct Least {
  static constexpr const char* header = kFoldHeader;
  static constexpr bool centered = false;
  using Total = typename ComputeType<T>::type;
  using Partial = Total;
  AVIDA_HD static Partial start() {
    if constexpr (TypeTraits<T>::is_float)
      return infinity<Total>();
    else
      return TypeTraits<T>::highest();
  }
  AVIDA_HD AVIDA_INLINE static Partial add(Partial least, T x) {
    Total value = x;
    return value < least ? value : least;
  }
  AVIDA_HD AVIDA_INLINE static Total join(Total a, Total b) { return b < a ? b : a; }
};

// The greatest element.
template <class T>
struct Greatest {
  static constexpr const char* header = kFoldHeader;
  static constexpr bool centered = false;
  using Total = typename ComputeType<T>::type;
  using Partial = Total;
  AVIDA_HD static Partial start() {
    if constexpr (TypeTraits<T>::is_float)
      return -infinity<Total>();
    else
      return TypeTraits<T>::lowest();
  }
  AVIDA_HD AVIDA_INLINE static Partial add(Partial greatest, T x) {
    Total value = x;
    return value > greatest ? value : greatest;
  }
  AVIDA_HD AVIDA_INLINE static Total join(Total a, Total b) { return b > a ? b : a; }
};

// The integer part of a real result, within the range of an integer type; a float type takes the result itself.
template <class Out>
AVIDA_HD AVIDA_INLINE Out from_real(double x) {
  return truncate<Out>(x);
}

// total / count; integers are divided as such, towards zero, when the result is one.
template <class Out, class Total>
AVIDA_HD AVIDA_INLINE Out quotient(Total total, long count) {
  if constexpr (same_type<Total, double> || TypeTraits<Out>::is_float) {
    return from_real<Out>(static_cast<double>(total) / static_cast<double>(count));
  } else {
    if (count == 0) return Out(0);
    Int128 whole = static_cast<Int128>(total) / count;
    return whole < 0 ? convert<Out>(static_cast<long>(whole)) : convert<Out>(static_cast<unsigned long>(whole));
  }
}

}  // namespace avida::ops
