// One element resampled along one axis. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/convert.h"

namespace avida {

// An item is an element of the output, whose axes are any number of `out_extent`, and `inner` elements after them.
// Several axes are resampled one after the other, with float between them.
template <class To, class From>
struct ResampleItem {
  struct Params {
    To* out;
    const From* in;
    const int* first;      // for each index of the output, the first element that it is made of
    const float* weights;  // and the weights of `count` of them
    long count, in_extent, out_extent, inner;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const long rest = i % params.inner, at = i / params.inner % params.out_extent;
    const long outer = i / params.inner / params.out_extent;
    const From* from = params.in + (outer * params.in_extent + params.first[at]) * params.inner + rest;
    const float* weights = params.weights + at * params.count;
    float sum = 0;
    for (long k = 0; k < params.count; k++) sum += convert<float>(from[k * params.inner]) * weights[k];
    params.out[i] = convert<To>(sum);
  }
};

}  // namespace avida
