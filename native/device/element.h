// Elements whose type is known only at run time; types have the numbers of the API.
#pragma once
#include "device/convert.h"

namespace avida {

// X(number, type) for every element type.
#define AVIDA_EACH_ELEMENT_TYPE(X) \
  X(0, unsigned char)              \
  X(1, unsigned short)             \
  X(2, unsigned int)               \
  X(3, unsigned long)              \
  X(4, signed char)                \
  X(5, short)                      \
  X(6, int)                        \
  X(7, long)                       \
  X(8, float16)                    \
  X(9, float)                      \
  X(10, double)                    \
  X(11, bool)                      \
  X(12, bfloat16)

// The element as C++ converts it.
template <class To>
AVIDA_HD inline To cast_element(const void* data, int type, long i) {
  switch (type) {
#define AVIDA_X(NUMBER, T) \
  case NUMBER:             \
    return static_cast<To>(static_cast<typename ComputeType<T>::type>(static_cast<const T*>(data)[i]));
    AVIDA_EACH_ELEMENT_TYPE(AVIDA_X)
#undef AVIDA_X
  }
  return To();
}

// A placeholder for the type that a `type` member beside it specifies.
struct AnyElement {};

template <class As, class T>
AVIDA_HD AVIDA_INLINE As load_element(const void* data, int type, long i) {
  if constexpr (!same_type<T, AnyElement>) {
    return convert<As>(static_cast<const T*>(data)[i]);
  } else {
    switch (type) {
#define AVIDA_X(NUMBER, T) \
  case NUMBER:             \
    return convert<As>(static_cast<const T*>(data)[i]);
      AVIDA_EACH_ELEMENT_TYPE(AVIDA_X)
#undef AVIDA_X
    }
    return As();
  }
}

template <class T, class From>
AVIDA_HD AVIDA_INLINE void store_element(void* data, int type, long i, From value) {
  if constexpr (!same_type<T, AnyElement>) {
    static_cast<T*>(data)[i] = convert<T>(value);
  } else {
    switch (type) {
#define AVIDA_X(NUMBER, T)                        \
  case NUMBER:                                    \
    static_cast<T*>(data)[i] = convert<T>(value); \
    return;
      AVIDA_EACH_ELEMENT_TYPE(AVIDA_X)
#undef AVIDA_X
    }
  }
}

}  // namespace avida
