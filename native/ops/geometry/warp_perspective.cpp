#include "ops/geometry/warp_perspective.h"

#include "loops/warping/warp.h"
#include "ops/geometry/affine.h"
#include "ops/geometry/pixel_origin.h"
#include "ops/geometry/warp_moves.h"

namespace avida::ops {
namespace {

enum class BorderMode { constant, replicate, reflect, reflect_101, wrap };  // in the order of Border
AVIDA_CHOICES(BorderMode, "constant", "replicate", "reflect", "reflect_101", "wrap")

struct PerspectiveArgs {
  BorderMode border_mode = BorderMode::constant;
  PixelOrigin pixel_origin = PixelOrigin::corner;
  std::vector<float> fill_value;
  Interpolation interp_type = Interpolation::linear;
  bool inverse_map = true;
  Matrix matrix;
  Vec<float> size;
};

struct PerspectiveWarp {
  WarpOptions options;
  Perspective map;
  Shape out;

  explicit PerspectiveWarp(const Sample<PerspectiveArgs>& sample)
      : options{sample.args.interp_type, static_cast<Border>(sample.args.border_mode), sample.args.fill_value},
        out(sample.in[0].shape) {
    const PerspectiveArgs& args = sample.args;
    if (options.fill.empty()) options.fill = {0};
    if (!args.size.empty()) set_size(out, sample.in[0].layout, args.size);
    const Matrix matrix = given_matrix(sample);
    check_matrix(matrix, 3, 3);
    double given[3][3], inverse[3][3];
    for (int i = 0; i < 9; i++) given[i / 3][i % 3] = matrix.numbers[i];
    if (!args.inverse_map) invert(given, inverse);
    const auto& used = args.inverse_map ? given : inverse;
    for (int i = 0; i < 9; i++) map.m[i / 3][i % 3] = static_cast<float>(used[i / 3][i % 3]);
    map.origin = distance_of(args.pixel_origin);
  }

  Shape shape() const { return out; }
  int64_t rows(const Sample<PerspectiveArgs>& sample) const { return WarpSample::rows(sample.out[0]); }
  void run(const Sample<PerspectiveArgs>& sample) const { WarpSample(sample, options).run(map); }
};

Moves perspective_moves(const Sample<PerspectiveArgs>& sample) {
  return moves_of(PerspectiveWarp(sample).map, sample.in[0]);
}

}  // namespace

AVIDA_OP_IN(experimental, warp_perspective, PerspectiveArgs) {
  using Args = PerspectiveArgs;
  op.doc("Applies a perspective transform to images: straight lines stay straight.")
      .input("input", "The images.", {"HW", "HWC", "FHWC", "CHW", "FCHW"})
      .optional_input("matrix_input", "The matrix for each sample, instead of the argument.")
      .on_host()
      .arg("border_mode", &Args::border_mode,
           "What lies beyond the borders: \"constant\" (fill_value), \"replicate\", \"reflect\", \"reflect_101\" or "
           "\"wrap\".")
      .arg("fill_value", &Args::fill_value, "One number, or one for each channel; by default 0.", fixed | takes_nan)
      .arg("interp_type", &Args::interp_type, "Nearest or linear interpolation.", fixed)
      .arg("inverse_map", &Args::inverse_map,
           "Whether the matrix maps positions of the output to the input; if not, it is inverted first.", fixed)
      .arg("matrix", &Args::matrix, "3 rows of 3 numbers.", takes_nan)
      .arg("pixel_origin", &Args::pixel_origin,
           "Whether (0, 0) is the \"corner\" or the \"center\" of the first pixel.")
      .arg("size", &Args::size, "Height and width of the output; by default the input's.")
      .example("avida.experimental.warp_perspective(image, matrix=[1, 0, 0, 0, 1, 0, 0.1, 0, 1])")
      .infer([](Infer<Args>& call) {
        if (call.in[1].dtype == DType::none && call.args.matrix.empty() && !call.call.per_sample("matrix"))
          refuse("expected a matrix, as the second input or as the argument");
      })
      .each_sample<PerspectiveWarp>()
      .cost(8);
}

AVIDA_MOVES_IN(experimental, warp_perspective, PerspectiveArgs, perspective_moves)

}  // namespace avida::ops
