// Checks and shapes that the operators on boxes share. A box is four floats.
#pragma once
#include "operator/declare.h"

namespace avida::ops {

constexpr const char* kBoxesText =
    "Boxes as fractions of the image's extents: left, top, width, height, or left, top, right, bottom.";
constexpr const char* kLtrbText = "Whether boxes end with right and bottom instead of width and height.";

inline void check_floats(const Meta& meta, const char* what) {
  if (meta.dtype != DType::float32) refuse("expected ", what, " of float32, got ", meta.dtype);
}

inline void check_labels(const Meta& meta) {
  if (meta.dtype != DType::int32) refuse("expected labels of int32, got ", meta.dtype);
}

[[noreturn]] inline void refuse_labels(const SampleView& labels, int64_t boxes) {
  refuse("expected a label for each of ", boxes, " boxes, got labels of shape ", labels.shape);
}

template <class Args>
void infer_boxes(Infer<Args>& call) {
  check_floats(call.in[0], "boxes");
}

// For plans: any shape whose elements are consecutive boxes.
struct BoxesPlan {
  template <class Args>
  static void shape(Sample<Args>& sample) {
    if (sample.in[0].elements() % 4 != 0) refuse("expected boxes of four numbers, got the shape ", sample.in[0].shape);
    same_shape(sample);
  }
};

}  // namespace avida::ops
