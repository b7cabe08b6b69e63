// `augment.grayscale`, `augment.rgb_shift`.
#include "ops/augment/rgb_matrix.h"

namespace avida::ops {
namespace {

struct GrayArgs {
  bool on = true;
};
struct ShiftArgs {
  Vec<float> shift;
};

RgbMatrix matrix_of(const Sample<GrayArgs>& sample) {
  if (!sample.args.on) return kSameColors;
  return {{{0.299f, 0.587f, 0.114f}, {0.299f, 0.587f, 0.114f}, {0.299f, 0.587f, 0.114f}}, {0, 0, 0}};
}
RgbMatrix matrix_of(const Sample<ShiftArgs>& sample) {
  const Vec<float>& shift = sample.args.shift;
  if (shift.size() != 3) refuse("expected 3 numbers in \"shift\", got ", shift.size());
  RgbMatrix matrix = kSameColors;
  for (int c = 0; c < 3; c++) matrix.addend[c] = shift[c] * range_of_colors(sample.in[0].dtype);
  return matrix;
}

}  // namespace

AVIDA_OP_IN(augment, grayscale, GrayArgs) {
  op.doc("Makes images gray, which keep their three channels.")
      .arg("on", &GrayArgs::on, "Whether the sample becomes gray; if not, it stays as it is.")
      .example("avida.augment.grayscale(image)");
  recolors<MatrixPlan<GrayArgs>>(op);
}

AVIDA_OP_IN(augment, rgb_shift, ShiftArgs) {
  op.doc("Adds a number to red, one to green and one to blue.")
      .arg("shift", &ShiftArgs::shift, "Three numbers, in units of the largest value of an integer type.", required)
      .example("avida.augment.rgb_shift(image, shift=[0.1, 0, -0.1])");
  recolors<MatrixPlan<ShiftArgs>>(op);
}

}  // namespace avida::ops
