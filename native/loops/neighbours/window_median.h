// The median of a window on a GPU, one item for each element, without memory for the window.
#pragma once
#include "loops/neighbours/neighbours.h"

namespace avida {

// Elements as unsigned numbers in the same order; NaN is the largest.
template <class T>
struct Ordered {
  using Value = typename ComputeType<T>::type;
  using Key = unsigned;
  static constexpr Key top = 1u << 31;

  AVIDA_HD static AVIDA_INLINE Key key(T from) {
    Value x = Value(from);
    if constexpr (!TypeTraits<T>::is_float) {
      return TypeTraits<T>::is_signed ? static_cast<Key>(x) ^ top : static_cast<Key>(x);
    } else {
      Key bits = x == x ? float_bits(x) : 0x7fc00000u;
      return bits & top ? ~bits : bits | top;
    }
  }
  AVIDA_HD static AVIDA_INLINE T value(Key key) {
    if constexpr (!TypeTraits<T>::is_float)
      return static_cast<T>(TypeTraits<T>::is_signed ? key ^ top : key);
    else
      return T(bits_float(key & top ? key & ~top : ~key));
  }
};

template <>
struct Ordered<double> {
  using Key = unsigned long;
  static constexpr Key top = 1ul << 63;

  AVIDA_HD static AVIDA_INLINE Key key(double x) {
    Key bits = x == x ? __builtin_bit_cast(Key, x) : 0x7ff8000000000000ul;
    return bits & top ? ~bits : bits | top;
  }
  AVIDA_HD static AVIDA_INLINE double value(Key key) {
    return __builtin_bit_cast(double, key& top ? key & ~top : ~key);
  }
};

template <class T>
struct WindowMedian {
  static constexpr const char* header = "loops/neighbours/window_median.h";
  struct Params {
    T* out;
    const T* in;
    Grid grid;
    NeighbourWindow window;  // of an odd number of elements; the border is not filled
  };

  // Bit by bit from the top: the largest key that at most half of the elements are below.
  AVIDA_HD AVIDA_KERNEL_INLINE static void run(const Params& params, long item) {
    using Key = typename Ordered<T>::Key;
    const GridPlace place = params.grid.place_of(item);
    const long half = params.window.size[0] * params.window.size[1] * params.window.size[2] / 2;
    constexpr bool narrow = !TypeTraits<T>::is_float && !TypeTraits<T>::is_signed && sizeof(T) < sizeof(Key);
    constexpr int unused = narrow ? 8 * (sizeof(Key) - sizeof(T)) : 0;  // bits of keys
    Key median = 0;
    for (Key bit = Ordered<T>::top >> unused; bit; bit >>= 1) {
      long below = 0;
      each_neighbour(params.grid, params.window, place,
                     [&](long index) { below += Ordered<T>::key(params.in[index]) < (median | bit); });
      if (below <= half) median |= bit;
    }
    params.out[item] = Ordered<T>::value(median);
  }
};

}  // namespace avida
