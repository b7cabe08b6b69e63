// The kernels that convert elements, and those that fill with one. Read by NVRTC too: no std headers.
#pragma once
#include "device/any_element.h"
#include "device/neighbour_elements.h"

namespace avida {

// An item is kNeighbours elements, or what is left of them; `rounds` as in convert_element. To and From are element
// types, or AnyElement.
template <bool rounds, class To, class From>
struct ConvertItem {
  static constexpr const char* header = "loops/moving/convert_item.h";
  struct Params {
    void* out;
    const void* in;
    int to, from;  // the types, where they are known at run time only
    bool aligned;  // both arrays, to kNeighbours elements
    long elements;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const long first = item * kNeighbours;
    if constexpr (!same_type<From, AnyElement>) {
      if (params.aligned && first + kNeighbours <= params.elements) {
        const NeighbourElements<From> from = static_cast<const NeighbourElements<From>*>(params.in)[item];
        NeighbourElements<To> to;
        for (int k = 0; k < kNeighbours; k++) to.at[k] = convert_element<rounds, To>(from.at[k]);
        static_cast<NeighbourElements<To>*>(params.out)[item] = to;
        return;
      }
    }
    for (long i = first; i < first + kNeighbours && i < params.elements; i++)
      convert_at<rounds, To, From>(params.out, params.to, i, params.in, params.from, i);
  }
};

// How a number to fill with becomes an element: without fraction, and integers wrap around.
template <class T>
AVIDA_HD AVIDA_INLINE T fill_element(float number) {
  if constexpr (TypeTraits<T>::is_float)
    return convert<T>(number);
  else
    return static_cast<T>(truncate<long>(number));
}

// Every item is the same number.
template <class T>
struct FillItem {
  static constexpr const char* header = "loops/moving/convert_item.h";
  struct Params {
    T* out;
    T value;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) { params.out[i] = params.value; }
};

}  // namespace avida
