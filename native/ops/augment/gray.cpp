// `augment.grayscale`, `augment.rgb_shift`.
#include "loops/moving/strided_move.h"
#include "ops/augment/rgb_matrix.h"

namespace avida::ops {
namespace {

struct GrayArgs {
  bool on = true;
};
struct ShiftArgs {
  Vec<float> shift;
};

RgbMatrix matrix_of(const Sample<ShiftArgs>& sample) {
  const Vec<float>& shift = sample.args.shift;
  if (shift.size() != 3) refuse("expected 3 numbers in \"shift\", got ", shift.size());
  RgbMatrix matrix = kSameColors;
  for (int c = 0; c < 3; c++) matrix.addend[c] = shift[c] * range_of_colors(sample.in[0].dtype);
  return matrix;
}

class GrayPlan {
 public:
  explicit GrayPlan(const Sample<GrayArgs>& sample)
      : on_(sample.args.on), grid_(rgb_grid(sample.in[0])), unchanged_(sample.in[0].bytes()) {}

  int64_t rows() const { return on_ ? grid_.blocks() : unchanged_.rows(); }
  void run(const Sample<GrayArgs>& sample) const {
    if (on_)
      each_pixel<GrayOfThree>(sample, grid_, GrayOfThree::Weights{{0.299f, 0.587f, 0.114f}});
    else
      unchanged_.run(sample, sample.out[0].data, sample.in[0].data);
  }

 private:
  const bool on_;
  const PixelGrid grid_;
  const DenseMove unchanged_;
};

}  // namespace

AVIDA_OP_IN(augment, grayscale, GrayArgs) {
  op.doc("Makes images gray, which keep their three channels.")
      .arg("on", &GrayArgs::on, "Whether the sample becomes gray; if not, it stays as it is.")
      .example("avida.augment.grayscale(image)");
  recolors<GrayPlan>(op);
}

AVIDA_OP_IN(augment, rgb_shift, ShiftArgs) {
  op.doc("Adds a number to red, one to green and one to blue.")
      .arg("shift", &ShiftArgs::shift, "Three numbers, in units of the largest value of an integer type.", required)
      .example("avida.augment.rgb_shift(image, shift=[0.1, 0, -0.1])");
  recolors<MatrixPlan<ShiftArgs>>(op);
}

}  // namespace avida::ops
