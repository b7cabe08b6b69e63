// `augment.grayscale`, `augment.rgb_shift`.
#include "loops/moving/strided_move.h"
#include "loops/pixels/each_pixel.h"
#include "ops/augment/colors.h"
#include "ops/color/color_matrix.h"

namespace avida::ops {
namespace {

struct GrayArgs {
  bool on = true;
};
struct ShiftArgs {
  Vec<float> shift;
};

using Matrix = ColorMatrix<3, 3>;
Matrix matrix_of(const ShiftArgs& args, DType dtype) {
  if (args.shift.size() != 3) refuse("expected 3 numbers in \"shift\", got ", args.shift.size());
  Matrix matrix = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
  for (int c = 0; c < 3; c++) matrix.addend[c] = args.shift[c] * range_of_colors(dtype);
  return matrix;
}

PixelGrid rgb_grid(const SampleView& in) {
  const PixelGrid grid = pixel_grid(in);
  if (grid.channels != 3) refuse("expected the 3 channels of RGB, got ", grid.channels);
  return grid;
}

class ShiftPlan {
 public:
  explicit ShiftPlan(const Sample<ShiftArgs>& sample)
      : grid_(rgb_grid(sample.in[0])), matrix_(matrix_of(sample.args, sample.in[0].dtype)) {}

  int64_t rows() const { return grid_.blocks(); }
  void run(const Sample<ShiftArgs>& sample) const { each_pixel<Recolor<3, 3>>(sample, grid_, matrix_); }

 private:
  const PixelGrid grid_;
  const Matrix matrix_;
};

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

template <class Plan, class Args>
void rgb_loop(Op<Args>& op) {
  op.input("input", "Images, videos or volumes in RGB, of uint8, uint16 or floats.",
           {"HWC", "FHWC", "DHWC", "CHW", "FCHW", "CDHW"})
      .infer([](Infer<Args>& call) { check_colors(call.in[0].dtype); })
      .template each_sample<Plan>()
      .cost(2)
      .chains();
}

}  // namespace

AVIDA_OP_IN(augment, grayscale, GrayArgs) {
  op.doc("Makes images gray, which keep their three channels.")
      .arg("on", &GrayArgs::on, "Whether the sample becomes gray; if not, it stays as it is.")
      .example("avida.augment.grayscale(image)");
  rgb_loop<GrayPlan>(op);
}

AVIDA_OP_IN(augment, rgb_shift, ShiftArgs) {
  op.doc("Adds a number to red, one to green and one to blue.")
      .arg("shift", &ShiftArgs::shift, "Three numbers, in units of the largest value of an integer type.", required)
      .example("avida.augment.rgb_shift(image, shift=[0.1, 0, -0.1])");
  rgb_loop<ShiftPlan>(op);
}

}  // namespace avida::ops
