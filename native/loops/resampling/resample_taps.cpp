#include "loops/resampling/resample_taps.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>

#include "core/error.h"
#include "core/made_once.h"
#include "loops/resampling/recent.h"

namespace avida {
namespace {

constexpr int64_t kMostTaps = 1 << 26;  // weights of one axis; more is refused

}  // namespace

const float* filter_table(ResampleFilter filter) {
  using Tables = std::array<std::vector<float>, 6>;
  static constinit MadeOnce<const Tables> tables;
  const auto make = [] {
    auto all = std::make_unique<Tables>();
    for (int i = 0; i < 6; i++) {
      auto kind = static_cast<ResampleFilter>(i);
      (*all)[i].resize(filter_table_size(kind));
      fill_filter_table(kind, (*all)[i].data());
    }
    return all;
  };
  return tables.get(make)[static_cast<int>(filter)].data();
}

void check_not_empty(const ResampleAxis& axis) {
  if (axis.in == 0) refuse("cannot resize an empty axis to ", axis.out, " elements");
}

namespace {

// Elements outside of the input repeat its border: their weights are added to the border's.
ResampleTaps make_taps(const ResampleAxis& axis) {
  check_not_empty(axis);
  const int64_t last = axis.in - 1;
  ResampleTaps taps;
  taps.count = std::min(window_count(axis), axis.in);
  taps.first.resize(axis.out);
  taps.weights.resize(axis.out * taps.count);
  taps.moves_only = axis.filter == ResampleFilter::nearest;
  const float* table = filter_table(axis.filter);
  float position = axis.start + 0.5f * axis.step();
  for (int64_t i = 0; i < axis.out; i++, position += axis.step()) {
    ResampleWindow window = resample_window(axis, i);
    if (axis.summed && axis.filter == ResampleFilter::nearest) window.first = static_cast<long>(std::floor(position));
    int64_t first = std::clamp<int64_t>(window.first, 0, axis.in - taps.count);
    float* weights = taps.weights.data() + i * taps.count;
    taps.first[i] = static_cast<int32_t>(first);
    float sum = 0;
    for (int64_t k = 0; k < window.count; k++) {
      float weight = window_weight(axis, table, window, k);
      weights[std::clamp<int64_t>(window.first + k, 0, last) - first] += weight;
      sum += weight;
    }
    for (int64_t k = 0; k < taps.count; k++) weights[k] /= sum;
  }
  return taps;
}

}  // namespace

void check_resample_axis(const ResampleAxis& axis) {
  if (!std::isfinite(axis.start) || !std::isfinite(axis.end))
    refuse("expected finite coordinates of the region, got ", axis.start, " to ", axis.end);
  if (axis.in > INT_MAX || axis.out > INT_MAX)
    refuse("expected extents of at most ", INT_MAX, ", got ", axis.in, " to ", axis.out);
  if (axis.in == 0 || axis.out == 0) return;
  constexpr float kFar = 1e9f;
  if (std::fabs(axis.start) > kFar || std::fabs(axis.end) > kFar ||
      static_cast<double>(window_scale(axis)) * 6 * static_cast<double>(axis.out) > static_cast<double>(kMostTaps))
    refuse("cannot resample the region from ", axis.start, " to ", axis.end, " to ", axis.out, " elements: too large");
}

std::shared_ptr<const ResampleTaps> resample_taps(const ResampleAxis& axis) {
  if (window_count(axis) * axis.out > kMostKeptTaps) return std::make_shared<const ResampleTaps>(make_taps(axis));
  thread_local Recent<ResampleAxis, ResampleTaps> recent;
  return recent.find(axis, make_taps);
}

}  // namespace avida
