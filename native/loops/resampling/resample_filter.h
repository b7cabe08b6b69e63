// The input elements and weights that an output element is made of, along one axis. Read by NVRTC too.
#pragma once
#include "device/macros.h"
#include "device/math.h"

namespace avida {

// Under the numbers of the API.
enum class ResampleFilter : int { nearest, linear, cubic, lanczos3, triangular, gaussian };

struct ResampleAxis {
  long in = 0, out = 0;
  float start = 0, end = 0;  // the part of the input that fills the output; mirrored where it ends before it starts
  ResampleFilter filter = ResampleFilter::linear;
  bool antialias = true;
  bool summed = false;  // nearest: positions are summed up step by step, as along all axes but the last
  bool inside_only =
      false;  // elements outside of the part have no weight, instead of those outside of the input repeating

  AVIDA_HD float step() const { return (end - start) / static_cast<float>(out); }
  bool operator==(const ResampleAxis&) const = default;
};

// Filters other than the triangle are read from a table of this many values per unit, interpolated linearly.
constexpr int kFilterSteps = 32;

AVIDA_HD AVIDA_INLINE int filter_radius(ResampleFilter filter) {
  return filter == ResampleFilter::cubic ? 2 : filter == ResampleFilter::lanczos3 ? 3 : 1;
}

// The filter at a distance of at most its radius.
AVIDA_HD AVIDA_INLINE double filter_value(ResampleFilter filter, double x) {
  constexpr double pi = 3.14159265358979323846;
  x = x < 0 ? -x : x;
  switch (filter) {
    case ResampleFilter::cubic:  // Catmull-Rom
      return x < 1 ? 1 + x * x * (1.5 * x - 2.5) : 2 + x * (x * (2.5 - 0.5 * x) - 4);
    case ResampleFilter::lanczos3:
      return x == 0 ? 1 : 3 * math::sin(pi * x) * math::sin(pi * x / 3) / (pi * x * pi * x);
    case ResampleFilter::gaussian:
      return math::exp(-4 * x * x);
    default:
      return 1 - x;
  }
}

// Entries for the distances 0, 1/kFilterSteps, ... up to the radius, then zeros for one more step.
AVIDA_HD AVIDA_INLINE int filter_table_size(ResampleFilter filter) { return filter_radius(filter) * kFilterSteps + 3; }

AVIDA_HD AVIDA_INLINE void fill_filter_table(ResampleFilter filter, float* table) {
  int last = filter_radius(filter) * kFilterSteps;
  for (int i = 0; i <= last; i++) table[i] = static_cast<float>(filter_value(filter, i * (1.0 / kFilterSteps)));
  table[last + 1] = table[last + 2] = 0;
}

AVIDA_HD AVIDA_INLINE float read_filter(const float* table, int radius, float x) {
  float position = (x < 0 ? -x : x) * kFilterSteps;
  int last = radius * kFilterSteps + 1;
  int i = position < static_cast<float>(last) ? static_cast<int>(position) : last;
  float fraction = i < last ? position - static_cast<float>(i) : 0;
  return table[i] + fraction * (table[i + 1] - table[i]);
}

// The input elements first, first + 1, ... that make one output element; some may lie outside of the input, where its
// border continues.
struct ResampleWindow {
  long first, count;
  float center, scale;
};

AVIDA_HD AVIDA_INLINE float window_scale(const ResampleAxis& axis) {
  float step = axis.step();
  step = step < 0 ? -step : step;
  return axis.antialias && step > 1 ? step : 1;
}

AVIDA_HD AVIDA_INLINE long window_count(const ResampleAxis& axis) {
  if (axis.filter == ResampleFilter::nearest) return 1;
  return static_cast<long>(math::ceil(2 * static_cast<float>(filter_radius(axis.filter)) * window_scale(axis)));
}

AVIDA_HD AVIDA_INLINE ResampleWindow resample_window(const ResampleAxis& axis, long i) {
  if (axis.filter == ResampleFilter::nearest) {
    float position = axis.start + (static_cast<float>(i) + 0.5f) * axis.step();  // in float, 5.5 * 30 / 11 is 15
    return {static_cast<long>(math::floor(position)), 1, 0, 1};
  }
  double step = (static_cast<double>(axis.end) - axis.start) / static_cast<double>(axis.out);
  double center = axis.start + (static_cast<double>(i) + 0.5) * step;
  float scale = window_scale(axis), middle = static_cast<float>(center - 0.5);
  // Of two elements that both lie exactly on the window's ends one is taken: the second, where the sum below decides.
  float begin = middle - static_cast<float>(filter_radius(axis.filter)) * scale + 1e-7f;
  long first = static_cast<long>(math::ceil(begin));
  if (middle > 65536 || middle < -65536)  // floats are too coarse out there
    first = static_cast<long>(math::ceil(center - 0.5 - static_cast<double>(filter_radius(axis.filter)) * scale));
  return {first, window_count(axis), static_cast<float>(center - 0.5 - static_cast<double>(first)), scale};
}

// The weight of element first + k, before all are divided by their sum.
AVIDA_HD AVIDA_INLINE float window_weight(const ResampleAxis& axis, const float* table, const ResampleWindow& window,
                                          long k) {
  if (axis.filter == ResampleFilter::nearest) return 1;
  if (axis.inside_only) {
    const auto element = static_cast<float>(window.first + k);
    const float begin = math::floor(axis.start < axis.end ? axis.start : axis.end);
    const float end = math::ceil(axis.start < axis.end ? axis.end : axis.start);
    if (element < begin || (element >= end && element > begin)) return 0;  // there is one, however small the part
  }
  float x = (static_cast<float>(k) - window.center) / window.scale;
  if (axis.filter == ResampleFilter::linear || axis.filter == ResampleFilter::triangular) {
    float weight = 1 - (x < 0 ? -x : x);
    return weight > 0 ? weight : 0;
  }
  return read_filter(table, filter_radius(axis.filter), x);
}

}  // namespace avida
