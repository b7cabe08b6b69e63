// What operators on the colours of images share: their element types, and the frames of a video one by one.
#pragma once
#include <cmath>

#include "operator/declare.h"

namespace avida::ops {

// White: the largest number of an integer type; floats hold colours from 0 to 1.
inline float range_of_colors(DType dtype) {
  return is_float(dtype) ? 1.0f : std::ldexp(1.0f, 8 * static_cast<int>(size_of(dtype))) - 1;
}

inline void check_colors(DType dtype) {
  const bool known = dtype == DType::uint8 || dtype == DType::uint16 || (is_float(dtype) && dtype != DType::float64);
  if (!known && dtype != DType::none)
    refuse("expected uint8, uint16, or floats of 16 or 32 bits, got ", dtype, ": convert it by cast");
}

// A frame as a sample of its own, for a loop family.
struct FrameWork {
  SampleView in[1], out[1];
  int64_t begin, end;
  Launches* launches;
};

inline int64_t frames_of(const SampleView& sample) { return sample.layout.find('F') == 0 ? sample.shape[0] : 1; }

inline SampleView frame_of(const SampleView& sample, int64_t frame) {
  if (sample.layout.find('F') != 0) return sample;
  SampleView view{nullptr, {}, sample.dtype, Layout(sample.layout.find('C') == 1 ? "CHW" : "HWC")};
  for (int d = 1; d < sample.ndim(); d++) view.shape.push_back(sample.shape[d]);
  view.data = sample.as<char>() + frame * view.bytes();
  return view;
}

}  // namespace avida::ops
