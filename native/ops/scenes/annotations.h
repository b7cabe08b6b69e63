// Inputs of the operators on annotations: rows of float32 numbers, and matrices.
#pragma once
#include "ops/scenes/moves.h"

namespace avida::ops {

inline void check_rows(const SampleView& rows, int64_t numbers, const char* name) {
  if (rows.ndim() != 2 || rows.shape[1] != numbers)
    refuse("expected ", name, " as rows of ", numbers, " numbers, got the shape ", rows.shape);
}

inline void check_annotations(const Meta& meta, const char* name) {
  if (meta.dtype != DType::float32) refuse("expected ", name, " of float32, got ", meta.dtype);
}

inline void check_matrix(const Meta& meta) {
  if (meta.dtype != DType::float64 || meta.ndim != 2) refuse("expected matrices of float64, got ", meta.dtype);
}

// The least rectangle around positions.
struct Around {
  double left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;

  void add(Position at) {
    left = std::min(left, at.x), right = std::max(right, at.x);
    top = std::min(top, at.y), bottom = std::max(bottom, at.y);
  }
  void store(float* box) const {
    const double ends[] = {left, top, right, bottom};
    for (int i = 0; i < 4; i++) box[i] = static_cast<float>(ends[i]);
  }
};

}  // namespace avida::ops
