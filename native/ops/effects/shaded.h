// What operators on the light of images share: their inputs, and a plan from a field of levels.
#pragma once
#include "loops/pixels/shade_pixels.h"
#include "ops/augment/colors.h"

namespace avida::ops {

inline float unit_drawn(RandomStream& random) { return static_cast<float>(random.next() >> 8) * 0x1p-24f; }
inline float drawn_from(RandomStream& random, float low, float high) { return low + (high - low) * unit_drawn(random); }

inline void check_share(const char* name, float share) {
  if (!(share >= 0 && share <= 1)) refuse("expected ", name, " from 0 to 1, got ", share);
}

// One number for all channels, or one for each: shares of white.
inline void set_color(Shading& shading, std::span<const float> color, const ShadeGrid& grid, DType dtype) {
  if (color.empty() || (std::ssize(color) != 1 && std::ssize(color) != grid.channels))
    refuse("expected one number or ", grid.channels, " as color, got ", color.size());
  if (grid.channels > kShadeColors && color.size() > 1)
    refuse("expected one number as color of images with more than ", kShadeColors, " channels, got ", color.size());
  for (int c = 0; c < kShadeColors; c++)
    shading.color[c] = color[c < std::ssize(color) ? c : 0] * range_of_colors(dtype);
}

// Parameters has field(sample), and sets the shading.
template <class Parameters, class Args>
class ShadedPlan {
 public:
  static constexpr bool takes_long = true;  // noise is made of many numbers

  explicit ShadedPlan(const Sample<Args>& sample) : grid_(sample.in[0]), parameters_(sample, grid_, shading_) {}

  int64_t rows() const { return grid_.rows(); }
  void run(const Sample<Args>& sample) const { shade_pixels(sample, grid_, shading_, parameters_.field(sample)); }

 private:
  const ShadeGrid grid_;
  Shading shading_;
  const Parameters parameters_;
};

template <class Parameters, class Args>
Op<Args>& shades(Op<Args>& op) {
  return op
      .input("input", "Images or videos of uint8, uint16 or floats; all frames get the same.",
             {"HW", "HWC", "CHW", "FHWC", "FCHW"})
      .random()
      .infer([](Infer<Args>& call) { check_colors(call.in[0].dtype); })
      .template each_sample<ShadedPlan<Parameters, Args>>()
      .cost(4);
}

}  // namespace avida::ops
