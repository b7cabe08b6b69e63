// Points under a linear map. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/convert.h"

namespace avida::ops {

// An item is one number of a point of the output.
template <class To, class From>
struct CoordTransform {
  static constexpr const char* header = "ops/geometry/coord_transform.h";
  struct Params {
    To* out;
    const From* in;
    const float *matrix, *shift;
    long rows, columns;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const long row = i % params.rows;
    const From* from = params.in + i / params.rows * params.columns;
    const float* weights = params.matrix + row * params.columns;
    float sum = params.shift[row];
    for (long c = 0; c < params.columns; c++) sum += weights[c] * convert<float>(from[c]);
    params.out[i] = convert<To>(sum);
  }
};

}  // namespace avida::ops
