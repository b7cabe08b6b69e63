// Items of the family elementwise.
#pragma once
#include "kernel/element.h"

namespace avida {

constexpr int kElementwiseDim = 16;  // axes of a sample

// T is the type to compute in, R that of the results.
template <class Body, int N, class T, class R>
struct ElementwiseItem {
  static constexpr const char* header = "kernel/elementwise.h";
  using Inner = Body;
  struct Params {
    void* out;
    const void* in[N];
    int type[N], dims;  // dims 0: all elements as one axis
    long shape[kElementwiseDim], stride[N][kElementwiseDim];
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    T x[N];
    long at[N];
    for (int k = 0; k < N; k++) at[k] = params.dims ? 0 : item * params.stride[k][0];
    for (long d = params.dims - 1, rest = item; d >= 0; d--) {
      for (int k = 0; k < N; k++) at[k] += rest % params.shape[d] * params.stride[k][d];
      rest /= params.shape[d];
    }
    for (int k = 0; k < N; k++) x[k] = cast_element<T>(params.in[k], params.type[k], at[k]);
    R* out = static_cast<R*>(params.out) + item;
    if constexpr (N == 1)
      *out = static_cast<R>(Body::run(x[0]));
    else if constexpr (N == 2)
      *out = static_cast<R>(Body::run(x[0], x[1]));
    else
      *out = static_cast<R>(Body::run(x[0], x[1], x[2]));
  }
};

}  // namespace avida
