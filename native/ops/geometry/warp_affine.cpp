#include "op/warp.h"
#include "ops/geometry/affine.h"

namespace avida::ops {
namespace {

struct WarpAffineArgs : WarpArgs {
  bool inverse_map = true;
  Matrix matrix;
  Vec<float> size;
};

void shape(Sample<WarpAffineArgs>& sample) {
  sample.out[0].shape = sample.in[0].shape;
  if (!sample.args.size.empty()) set_size(sample.out[0].shape, sample.in[0].layout, sample.args.size);
}

template <int N>
void warp(const WarpSample& work, const Sample<WarpAffineArgs>& sample) {
  const SampleView& input = sample.in[1];
  const Matrix matrix = input.data ? matrix_of(input.data, input.shape, input.dtype) : sample.args.matrix;
  Affine<N> map = affine_of<N>(matrix);
  work.run(sample.args.inverse_map ? map : inverse_of(map), sample.begin, sample.end);
}

}  // namespace

AVIDA_OP(warp_affine, WarpAffineArgs) {
  using Args = WarpAffineArgs;
  op.doc(
        "Moves, turns, scales and shears images or volumes: the pixel at (x, y) of the output is taken from "
        "matrix * (x, y, 1) of the input. (0, 0) is the outer corner of the first pixel.")
      .input("data", "The images or volumes.", {"HWC", "FHWC", "DHWC", "FDHWC"})
      .optional_input("mtx", "The matrix for each sample, instead of the argument.")
      .on_host()
      .arg("inverse_map", &Args::inverse_map,
           "Whether the matrix leads from the output to the input; if not, it is inverted first.", fixed)
      .arg("matrix", &Args::matrix, "2 rows of 3 numbers, for volumes 3 rows of 4, in the order x, y, z, 1.", takes_nan)
      .arg("size", &Args::size, "Height and width of the output, for volumes depth first; by default the input's.")
      .example("avida.warp_affine(image, matrix=[1, 0.5, 0, 0, 1, 0], fill_value=0)")
      .infer([](Infer<Args>& call) {
        infer_warp(call.args, call.out[0]);
        if (call.in[1].dtype == DType::none && call.args.matrix.empty() && !call.call.per_sample("matrix"))
          fail(ErrorKind::runtime, "expected a matrix, as the second input or as the argument");
      })
      .each_sample(shape,
                   [](const Sample<Args>& sample) {
                     WarpSample work(sample.in[0], sample.out[0], warp_options(sample.args), sample.launches);
                     work.dims() == 2 ? warp<2>(work, sample) : warp<3>(work, sample);
                   })
      .rows([](const Sample<Args>& sample) { return WarpSample::rows(sample.out[0]); })
      .on_gpu()
      .cost(8);
  warp_args(op);
}

}  // namespace avida::ops
