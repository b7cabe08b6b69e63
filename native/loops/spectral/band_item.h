// Weighted sums along an axis on a GPU: one item for each element of the output. Read by NVRTC too: no std headers.
#pragma once
#include "device/divide.h"

namespace avida {

// The weights of one sum: for `count` elements from `first` on.
struct Band {
  long first, count;
  long weights;  // index of the first weight
};

struct BandItem {
  static constexpr const char* header = "loops/spectral/band_item.h";
  struct Params {
    float* out;
    const float* in;
    const Band* bands;
    const float* weights;
    long sums, length, inner;  // extents: of the axis in the output and in the input, and of the axes after it
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const auto [row, column] = divided(item, params.inner);
    const auto [outer, sum_index] = divided(row, params.sums);
    const Band band = params.bands[sum_index];
    const float* in = params.in + (outer * params.length + band.first) * params.inner + column;
    const float* weights = params.weights + band.weights;
    float sum = 0;
    for (long i = 0; i < band.count; i++) sum += weights[i] * in[i * params.inner];
    params.out[item] = sum;
  }
};

}  // namespace avida
