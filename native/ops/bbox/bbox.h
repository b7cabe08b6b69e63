// What the operators on boxes share. A box is four floats.
#pragma once
#include "op/op.h"

namespace avida::ops {

inline void check_floats(const Meta& meta, const char* what) {
  if (meta.dtype != DType::float32) fail(ErrorKind::runtime, "expected ", what, " of float32, got ", meta.dtype);
}

template <class Args>
void infer_boxes(Infer<Args>& call) {
  check_floats(call.in[0], "boxes");
}

// Any shape whose elements are boxes one after the other.
template <class Args>
void boxes_shape(Sample<Args>& sample) {
  if (sample.in[0].elements() % 4 != 0)
    fail(ErrorKind::runtime, "expected boxes of four numbers, got the shape ", sample.in[0].shape);
  sample.out[0].shape = sample.in[0].shape;
}

}  // namespace avida::ops
