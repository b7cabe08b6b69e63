// Strided views of one sample, and the index into them. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/macros.h"

namespace avida {

template <int N>
struct Index {
  long at[N];
  AVIDA_HD long& operator[](int d) { return at[d]; }
  AVIDA_HD long operator[](int d) const { return at[d]; }
};

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
