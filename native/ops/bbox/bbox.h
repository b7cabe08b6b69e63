// Checks and shapes that the operators on boxes share. A box is four floats.
#pragma once
#include <cmath>
#include <cstring>

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
inline void check_integer_labels(const Meta& meta) {
  if (meta.dtype != DType::int32 && meta.dtype != DType::int64)
    refuse("expected labels of int32 or int64, got ", meta.dtype);
}

// After a crop to a small part of the image, boxes reach far beyond it, but not this far: such numbers are pixels.
constexpr float kLargestFraction = 8;

[[noreturn]] inline void refuse_pixels(float number, const char* remedy) {
  refuse("expected fractions of the image's extents, 0 to 1, got ", number, ", which looks like pixels. ", remedy);
}

// On the CPU: numbers in the memory of a GPU are not read here.
template <class Args>
void check_fractions(const Sample<Args>& sample, const char* remedy) {
  if (sample.launches) return;
  const float* numbers = sample.in[0].template as<float>();
  for (int64_t i = 0; i < sample.in[0].elements(); i++)
    if (std::fabs(numbers[i]) > kLargestFraction) refuse_pixels(numbers[i], remedy);
}

constexpr const char* kDivideBoxes = "Divide boxes by the width and height of their image.";

// Copies the label of a box; it may have several numbers.
inline void copy_label(const SampleView& to, int64_t row, const SampleView& from, int64_t from_row, int64_t numbers) {
  const int64_t bytes = numbers * size_of(from.dtype);
  std::memcpy(to.as<char>() + row * bytes, from.as<char>() + from_row * bytes, static_cast<size_t>(bytes));
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
