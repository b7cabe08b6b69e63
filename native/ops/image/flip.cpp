#include "loops/moving/strided_move.h"
#include "operator/declare.h"
#include "ops/scenes/moves.h"

namespace avida::ops {
namespace {

struct FlipArgs {
  int horizontal = 1, vertical = 0, depthwise = 0;
};

// A copy from strides that are negative along mirrored axes.
class FlipPlan {
 public:
  explicit FlipPlan(const Sample<FlipArgs>& sample) : in_(sample.in[0]), move_(mirrored(sample.args)) {}

  Shape shape() const { return in_.shape; }
  int64_t rows() const { return move_.rows(); }
  void run(const Sample<FlipArgs>& sample) const {
    move_.run(sample, sample.out[0].data, in_.as<char>() + first_ * size_of(in_.dtype));
  }

 private:
  StridedMove mirrored(const FlipArgs& args) {
    Shape strides = dense_strides(in_.shape);
    for (auto [name, mirrored] : {std::pair('D', args.depthwise), {'H', args.vertical}, {'W', args.horizontal}})
      if (int axis = in_.layout.find(name); axis >= 0 && mirrored && in_.shape[axis] > 0) {
        first_ += (in_.shape[axis] - 1) * strides[axis];
        strides[axis] = -strides[axis];
      }
    return StridedMove(size_of(in_.dtype), in_.shape, strides);
  }

  const SampleView& in_;
  int64_t first_ = 0;  // the element that comes first in the output
  const StridedMove move_;
};

Moves flip_moves(const Sample<FlipArgs>& sample) {
  Moves moves;
  if (sample.args.horizontal) moves.mirror(0, extent_of(sample.in[0], 0));
  if (sample.args.vertical) moves.mirror(1, extent_of(sample.in[0], 1));
  return moves;
}

}  // namespace

AVIDA_OP(flip, FlipArgs) {
  op.doc("Mirrors images, videos or volumes along the chosen axes.")
      .input("input", "The samples to mirror.", {"FDHWC", "FHWC", "DHWC", "HWC", "FCDHW", "FCHW", "CDHW", "CHW"})
      .arg("depthwise", &FlipArgs::depthwise, "Whether to mirror front to back, along the axis D.")
      .arg("horizontal", &FlipArgs::horizontal, "Whether to mirror left to right, along the axis W.")
      .arg("vertical", &FlipArgs::vertical, "Whether to mirror top to bottom, along the axis H.")
      .example("avida.flip(image, horizontal=0, vertical=1)")
      .each_sample<FlipPlan>()
      .chains();
}

AVIDA_MOVES(flip, FlipArgs, flip_moves)

}  // namespace avida::ops
