// Draws a window of random area, aspect ratio and position, for random_resized_crop and its relatives.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "operator/spec.h"

namespace avida {

struct RandomCropArgs {
  int num_attempts = 10;
  std::vector<float> random_area = {0.08f, 1.0f};
  std::vector<float> random_aspect_ratio = {0.75f, 1.333333f};
};

constexpr int kMostAttempts = 10'000;  // if none of them fits, none will

constexpr const char* kNumAttemptsText =
    "The most attempts to draw an area and an aspect ratio that fit into the image, at most 10,000. After them, the "
    "largest window of a permitted ratio is taken.";
constexpr const char* kRandomAreaText = "The range of the window's area, as a fraction of the image's.";
constexpr const char* kRandomAspectRatioText = "The range of the window's width divided by its height.";

struct RandomRange {
  double low, high;
};

inline RandomRange random_range(const std::vector<float>& given, const char* name) {
  if (given.empty() || given.size() > 2) refuse("expected one number or two in \"", name, "\", got ", given.size());
  RandomRange range{given.front(), given.back()};
  if (!(range.low <= range.high)) refuse("expected a range in \"", name, "\", got [", range.low, ", ", range.high, ']');
  return range;
}

// Raises what is wrong with the arguments; for infer().
inline void check_random_crop(const RandomCropArgs& args) {
  RandomRange area = random_range(args.random_area, "random_area");
  if (!(area.low >= 0)) refuse("expected areas of 0 or more in \"random_area\", got ", area.low);
  RandomRange ratio = random_range(args.random_aspect_ratio, "random_aspect_ratio");
  if (!(ratio.low > 0) || std::isinf(ratio.high))
    refuse("expected positive numbers in \"random_aspect_ratio\", got [", ratio.low, ", ", ratio.high, ']');
}

struct CropBox {
  int64_t top = 0, left = 0, height = 0, width = 0;
};

// Area uniform, ratio uniform in its logarithm, position uniform: the same box for the same stream and extents.
inline CropBox draw_crop_box(RandomStream& random, int64_t height, int64_t width, const RandomCropArgs& args) {
  if (height <= 0 || width <= 0) return {};
  RandomRange area = random_range(args.random_area, "random_area");
  RandomRange ratio = random_range(args.random_aspect_ratio, "random_aspect_ratio");
  double whole = static_cast<double>(height) * static_cast<double>(width);
  auto uniform = [&](double low, double high) { return low + (high - low) * (random.next() * 0x1p-32); };
  auto place = [&](int64_t h, int64_t w) {
    auto below = [&](int64_t n) { return static_cast<int64_t>(random.below(static_cast<unsigned>(n))); };
    int64_t top = below(height - h + 1);
    return CropBox{top, below(width - w + 1), h, w};
  };
  for (int attempt = 0; attempt < std::min(args.num_attempts, kMostAttempts); attempt++) {
    double drawn_area = uniform(area.low, area.high) * whole;
    double drawn_ratio = std::exp(uniform(std::log(ratio.low), std::log(ratio.high)));
    double w = std::max(1.0, std::round(std::sqrt(drawn_area * drawn_ratio)));
    double h = std::max(1.0, std::round(std::sqrt(drawn_area / drawn_ratio)));
    bool fits = w <= static_cast<double>(width) && h <= static_cast<double>(height);
    // Rounding may have changed the ratio. The slack lets 4/3 pass where the range ends at 1.333333.
    bool in_range = w / h >= ratio.low * (1 - 1e-6) && w / h <= ratio.high * (1 + 1e-6);
    if (fits && in_range) return place(static_cast<int64_t>(h), static_cast<int64_t>(w));
  }
  double nearest = std::clamp(static_cast<double>(width) / static_cast<double>(height), ratio.low, ratio.high);
  double largest = std::min({area.high * whole, static_cast<double>(width) * static_cast<double>(width) / nearest,
                             static_cast<double>(height) * static_cast<double>(height) * nearest});
  auto extent = [](double size, int64_t most) {
    return std::clamp<int64_t>(static_cast<int64_t>(size + 1e-6 * size), 1, most);
  };
  return place(extent(std::sqrt(largest / nearest), height), extent(std::sqrt(largest * nearest), width));
}

}  // namespace avida
