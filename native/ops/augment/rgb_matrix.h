// What operators share whose colours are linear functions of RGB: `matrix_of(sample)` makes the matrix.
#pragma once
#include "loops/pixels/each_pixel.h"
#include "ops/augment/colors.h"
#include "ops/color/color_matrix.h"

namespace avida::ops {

using RgbMatrix = ColorMatrix<3, 3>;
constexpr RgbMatrix kSameColors = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};

inline PixelGrid rgb_grid(const SampleView& in) {
  const PixelGrid grid = pixel_grid(in);
  if (grid.channels != 3) refuse("expected the 3 channels of RGB, got ", grid.channels);
  return grid;
}

template <class Args>
class MatrixPlan {
 public:
  explicit MatrixPlan(const Sample<Args>& sample) : grid_(rgb_grid(sample.in[0])), matrix_(matrix_of(sample)) {}

  int64_t rows() const { return grid_.blocks(); }
  void run(const Sample<Args>& sample) const { each_pixel<Recolor<3, 3>>(sample, grid_, matrix_); }

 private:
  const PixelGrid grid_;
  const RgbMatrix matrix_;
};

template <class Plan, class Args>
Op<Args>& recolors(Op<Args>& op) {
  return op
      .input("input", "Images, videos or volumes in RGB, of uint8, uint16 or floats.",
             {"HWC", "FHWC", "DHWC", "CHW", "FCHW", "CDHW"})
      .infer([](Infer<Args>& call) { check_colors(call.in[0].dtype); })
      .template each_sample<Plan>()
      .cost(2)
      .chains();
}

}  // namespace avida::ops
