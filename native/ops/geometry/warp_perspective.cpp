#include "ops/geometry/warp_perspective.h"

#include "op/warp.h"
#include "ops/geometry/affine.h"
#include "ops/geometry/pixel_origin.h"

namespace avida::ops {
namespace {

struct PerspectiveArgs {
  std::string border_mode = "constant", pixel_origin = "corner";
  std::vector<float> fill_value;
  int interp_type = 1;
  bool inverse_map = true;
  Matrix matrix;
  Vec<float> size;
};

Border border_of(const std::string& mode) {
  if (mode == "constant") return Border::fill;
  if (mode == "replicate") return Border::clamp;
  if (mode == "reflect") return Border::reflect;
  if (mode == "reflect_101") return Border::reflect_101;
  if (mode == "wrap") return Border::wrap;
  fail(ErrorKind::runtime,
       "expected \"constant\", \"replicate\", \"reflect\", \"reflect_101\" or \"wrap\" as border_mode, got \"", mode,
       '"');
}

Perspective map_of(const Sample<PerspectiveArgs>& sample) {
  const SampleView& input = sample.in[1];
  const Matrix matrix = input.data ? matrix_of(input.data, input.shape, input.dtype) : sample.args.matrix;
  check_matrix(matrix, 3, 3);
  double given[3][3], inverse[3][3];
  for (int i = 0; i < 9; i++) given[i / 3][i % 3] = matrix.numbers[i];
  if (!sample.args.inverse_map) invert(given, inverse);
  Perspective map;
  for (int i = 0; i < 9; i++)
    map.m[i / 3][i % 3] = static_cast<float>((sample.args.inverse_map ? given : inverse)[i / 3][i % 3]);
  map.origin = origin_of(sample.args.pixel_origin);
  return map;
}

}  // namespace

AVIDA_OP_IN(experimental, warp_perspective, PerspectiveArgs) {
  using Args = PerspectiveArgs;
  op.doc("Shows images in another perspective: straight lines stay straight.")
      .input("input", "The images.", {"HW", "HWC", "FHWC", "CHW", "FCHW"})
      .optional_input("matrix_input", "The matrix for each sample, instead of the argument.")
      .on_host()
      .arg("border_mode", &Args::border_mode,
           "What lies beyond the borders: \"constant\" (fill_value), \"replicate\", \"reflect\", \"reflect_101\" or "
           "\"wrap\".")
      .arg("fill_value", &Args::fill_value, "One number, or one for each channel; by default 0.", fixed | takes_nan)
      .arg("interp_type", &Args::interp_type, "Nearest or linear interpolation.", fixed)
      .arg("inverse_map", &Args::inverse_map,
           "Whether the matrix leads from the output to the input; if not, it is inverted first.", fixed)
      .arg("matrix", &Args::matrix, "3 rows of 3 numbers.", takes_nan)
      .arg("pixel_origin", &Args::pixel_origin,
           "Whether (0, 0) is the \"corner\" or the \"center\" of the first pixel.")
      .arg("size", &Args::size, "Height and width of the output; by default the input's.")
      .example("avida.experimental.warp_perspective(image, matrix=[1, 0, 0, 0, 1, 0, 0.1, 0, 1])")
      .infer([](Infer<Args>& call) {
        is_linear(call.args.interp_type);
        border_of(call.args.border_mode);
        origin_of(call.args.pixel_origin);
        if (call.in[1].dtype == DType::none && call.args.matrix.empty() && !call.call.per_sample("matrix"))
          fail(ErrorKind::runtime, "expected a matrix, as the second input or as the argument");
      })
      .each_sample(
          [](Sample<Args>& sample) {
            sample.out[0].shape = sample.in[0].shape;
            if (!sample.args.size.empty()) set_size(sample.out[0].shape, sample.in[0].layout, sample.args.size);
          },
          [](const Sample<Args>& sample) {
            const Args& args = sample.args;
            WarpOptions options{is_linear(args.interp_type), border_of(args.border_mode), args.fill_value};
            if (options.fill.empty()) options.fill = {0};
            WarpSample(sample.in[0], sample.out[0], options, sample.launches)
                .run(map_of(sample), sample.begin, sample.end);
          })
      .rows([](const Sample<Args>& sample) { return WarpSample::rows(sample.out[0]); })
      .on_gpu()
      .cost(8);
}

}  // namespace avida::ops
