// One element of what convert_run.h converts. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/convert.h"

namespace avida {

// An item is an element; `rounds` as in convert_element.
template <bool rounds, class To, class From>
struct ConvertItem {
  struct Params {
    To* out;
    const From* in;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    params.out[i] = convert_element<rounds, To>(params.in[i]);
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
  struct Params {
    T* out;
    T value;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) { params.out[i] = params.value; }
};

}  // namespace avida
