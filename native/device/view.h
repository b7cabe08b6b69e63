// Strided views of one sample, and the index into them. Read by NVRTC too: no std headers.
#pragma once
#include "device/macros.h"

namespace avida {

template <int N>
struct Index {
  long at[N];
  AVIDA_HD long& operator[](int d) { return at[d]; }
  AVIDA_HD long operator[](int d) const { return at[d]; }
};

// The index of item i of a C-ordered array. Division is the slow part: axes of extent 1 need none, and small numbers
// are divided in 32 bits.
template <int N>
AVIDA_HD AVIDA_INLINE Index<N> place_of(long i, const Index<N>& shape) {
  Index<N> place{};
  long all = i;
  for (int d = 0; d < N; d++) all |= shape[d];
  if (all >> 32 == 0) {
    unsigned rest = static_cast<unsigned>(i);
    for (int d = N - 1; d >= 0; d--) {
      const unsigned extent = static_cast<unsigned>(shape[d]);
      if (extent == 1) continue;
      place[d] = rest % extent;
      rest /= extent;
    }
  } else {
    for (int d = N - 1; d >= 0; d--) {
      place[d] = i % shape[d];
      i /= shape[d];
    }
  }
  return place;
}

template <class T, int N>
struct View {
  T* data;
  Index<N> shape;
  Index<N> stride;  // in elements

  AVIDA_HD T& operator()(const Index<N>& i) const {
    long offset = 0;
    for (int d = 0; d < N; d++) offset += i[d] * stride[d];
    return data[offset];
  }
};

template <class T, int N>
using In = View<const T, N>;
template <class T, int N>
using Out = View<T, N>;

}  // namespace avida
