// Computes, and caches, the weights of all output elements along one axis.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "loops/resampling/resample_filter.h"

namespace avida {

// Output element i is the sum over k < count of weights[i * count + k] * input[first[i] + k], all inside the input.
constexpr int64_t kMostKeptTaps = 1 << 18;  // weights of one axis; more are not cached

struct ResampleTaps {
  int64_t count = 1;
  std::vector<int32_t> first;
  std::vector<float> weights;
  bool moves_only = false;  // all weights are 1

  const float* weights_of(int64_t i) const { return weights.data() + i * count; }
};

// Raises when the axis cannot be resampled: too large, or not finite.
void check_resample_axis(const ResampleAxis& axis);

// Raises when there is nothing to make the output of.
void check_not_empty(const ResampleAxis& axis);

// filter_table_size() values.
const float* filter_table(ResampleFilter filter);

// Cached: the images of a batch often have the same size.
std::shared_ptr<const ResampleTaps> resample_taps(const ResampleAxis& axis);

}  // namespace avida
