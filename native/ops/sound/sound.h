// Checks that the operators on sound share.
#pragma once
#include "loops/resampling/recent.h"
#include "operator/spec.h"

namespace avida::ops {

inline void check_float32(const Meta& in) {
  if (in.dtype != DType::float32)
    refuse("expected float32, got ", in.dtype, ". Convert the input with avida.cast(input, dtype=avida.float32).");
}

inline void check_power(int power) {
  if (power != 1 && power != 2) refuse("expected a power of 1 (magnitude) or 2 (its square), got ", power);
}

}  // namespace avida::ops
