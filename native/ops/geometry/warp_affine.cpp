#include "loops/warping/warp.h"
#include "ops/geometry/affine.h"
#include "ops/geometry/warp_moves.h"

namespace avida::ops {
namespace {

struct WarpAffineArgs : WarpArgs {
  bool inverse_map = true;
  Matrix matrix;
  Vec<float> size;
};

struct AffineWarp {
  const WarpOptions options;
  const AnyAffine map;
  Shape out;

  explicit AffineWarp(const Sample<WarpAffineArgs>& sample)
      : options(warp_options(sample.args)),
        map(sample.in[0].layout.find('D') < 0 ? AnyAffine(map_of<2>(sample)) : map_of<3>(sample)),
        out(sample.in[0].shape) {
    if (!sample.args.size.empty()) set_size(out, sample.in[0].layout, sample.args.size);
  }
  template <int N>
  static Affine<N> map_of(const Sample<WarpAffineArgs>& sample) {
    const Affine<N> given = affine_of<N>(given_matrix(sample));
    return sample.args.inverse_map ? given : inverse_of(given);
  }

  Shape shape() const { return out; }
  int64_t rows(const Sample<WarpAffineArgs>& sample) const { return WarpSample::rows(sample.out[0]); }
  void run(const Sample<WarpAffineArgs>& sample) const { WarpSample(sample, options).run(map); }
};

Moves warp_moves(const Sample<WarpAffineArgs>& sample) { return moves_of(AffineWarp::map_of<2>(sample)); }

}  // namespace

AVIDA_OP(warp_affine, WarpAffineArgs) {
  using Args = WarpAffineArgs;
  op.doc(
        "Applies an affine transform to images or volumes. The pixel at (x, y) of the output is taken from "
        "matrix * (x, y, 1) of the input. (0, 0) is the outer corner of the first pixel.")
      .input("data", "The images or volumes.", {"HWC", "FHWC", "DHWC", "FDHWC", "CHW", "FCHW"})
      .optional_input("mtx", "The matrix for each sample, instead of the argument.")
      .on_host()
      .arg("inverse_map", &Args::inverse_map,
           "Whether the matrix maps positions of the output to the input; if not, it is inverted first.", fixed)
      .arg("matrix", &Args::matrix, "2 rows of 3 numbers, for volumes 3 rows of 4, in the order x, y, z, 1.", takes_nan)
      .arg("size", &Args::size, "Height and width of the output, for volumes depth first; by default the input's.")
      .example("avida.warp_affine(image, matrix=[1, 0.5, 0, 0, 1, 0], fill_value=0)")
      .infer([](Infer<Args>& call) {
        infer_warp(call.args, call.out[0]);
        if (call.in[1].dtype == DType::none && call.args.matrix.empty() && !call.call.per_sample("matrix"))
          refuse("expected a matrix, as the second input or as the argument");
      })
      .each_sample<AffineWarp>()
      .cost(8);
  warp_args(op);
}

AVIDA_MOVES(warp_affine, WarpAffineArgs, warp_moves)

}  // namespace avida::ops
