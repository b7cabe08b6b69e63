// Points under a linear map. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/element.h"

namespace avida::ops {

// An item is one number of a point of the output. To and From are element types, or AnyElement.
template <class To, class From>
struct CoordTransform {
  static constexpr const char* header = "ops/geometry/coord_transform.h";
  struct Params {
    void* out;
    const void* in;
    int to, from;  // the types, where they are known at run time only
    const float *matrix, *shift;
    long rows, columns;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const long row = i % params.rows;
    const long from = i / params.rows * params.columns;
    const float* weights = params.matrix + row * params.columns;
    float sum = params.shift[row];
    for (long c = 0; c < params.columns; c++)
      sum += weights[c] * load_element<float, From>(params.in, params.from, from + c);
    store_element<To>(params.out, params.to, i, sum);
  }
};

}  // namespace avida::ops
