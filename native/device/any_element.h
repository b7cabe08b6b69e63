// Conversion between elements of which either type may be known at run time only.
#pragma once
#include "device/element.h"

namespace avida {

template <bool rounds, class From>
AVIDA_HD inline void store_converted(void* data, int type, long i, From value) {
  switch (type) {
#define AVIDA_X(NUMBER, T)                                        \
  case NUMBER:                                                    \
    static_cast<T*>(data)[i] = convert_element<rounds, T>(value); \
    return;
    AVIDA_EACH_ELEMENT_TYPE(AVIDA_X)
#undef AVIDA_X
  }
}

// Converts element `source` of the input to element `at` of the output. To and From are types, or both AnyElement; then
// numbers are converted through a 64-bit type that represents them exactly.
template <bool rounds, class To, class From>
AVIDA_HD AVIDA_INLINE void convert_at(void* out, int to, long at, const void* in, int from, long source) {
  if constexpr (!same_type<From, AnyElement>) {
    static_cast<To*>(out)[at] = convert_element<rounds, To>(static_cast<const From*>(in)[source]);
  } else {
    const bool is_float = (from >= 8 && from <= 10) || from == 12, is_signed = from >= 4 && from <= 7;
    if (is_float)
      store_converted<rounds>(out, to, at, load_element<double, AnyElement>(in, from, source));
    else if (is_signed)
      store_converted<rounds>(out, to, at, load_element<long, AnyElement>(in, from, source));
    else
      store_converted<rounds>(out, to, at, load_element<unsigned long, AnyElement>(in, from, source));
  }
}

}  // namespace avida
