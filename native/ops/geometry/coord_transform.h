// The arithmetic of coord_transform: points under an affine map.
#pragma once
#include "device/element.h"

namespace avida::ops {

// An item is one point. To and From are element types, or AnyElement.
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

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long point) {
    const long rows = params.rows, columns = params.columns;
    const float* weights = params.matrix;
    for (long row = 0; row < rows; row++, weights += columns) {
      float sum = params.shift[row];
      for (long c = 0; c < columns; c++)
        sum += weights[c] * load_element<float, From>(params.in, params.from, point * columns + c);
      store_element<To>(params.out, params.to, point * rows + row, sum);
    }
  }
};

}  // namespace avida::ops
