// scenes.compose: two matrices, one after the other; scenes.scale: from shares of the extents to pixels.
#include "ops/scenes/moves.h"

namespace avida::ops {
namespace {

struct ComposePlan {
  explicit ComposePlan(const Sample<NoArgs>& sample) {
    for (const SampleView& matrix : sample.in)
      if (matrix.shape != Shape{3, 3}) refuse("expected matrices of 3 by 3 numbers, got the shape ", matrix.shape);
  }
  Shape shape() const { return {3, 3}; }
  void run(const Sample<NoArgs>& sample) const {
    const Moves both = product(moves_in(sample.in[1]), moves_in(sample.in[0]));
    std::memcpy(sample.out[0].data, both.m, sizeof(both.m));
  }
};

struct ScalePlan {
  Shape shape() const { return {3, 3}; }
  void run(const Sample<NoArgs>& sample) const {
    Moves moves;
    for (int axis : {0, 1}) moves.scale(axis, sample.in[0].as<int32_t>()[1 - axis]);
    std::memcpy(sample.out[0].data, moves.m, sizeof(moves.m));
  }
};

}  // namespace

AVIDA_OP_IN(scenes, compose, NoArgs) {
  op.doc("The matrix of two steps.")
      .hidden()
      .input("first", "The matrix of the first step.")
      .input("then", "That of the second one.")
      .infer([](Infer<NoArgs>& call) {
        for (const Meta& matrix : call.in)
          if (matrix.dtype != DType::float64) refuse("expected matrices of float64, got ", matrix.dtype);
      })
      .on_cpu()
      .each_sample<ComposePlan>();
}

AVIDA_OP_IN(scenes, scale, NoArgs) {
  op.doc("The matrix from shares of an image to its pixels.")
      .hidden()
      .input("extents", "Height and width of the images.")
      .infer([](Infer<NoArgs>& call) {
        if (call.in[0].dtype != DType::int32) refuse("expected extents of int32, got ", call.in[0].dtype);
        call.out[0].dtype = DType::float64;
        call.out[0].ndim = 2;
      })
      .on_cpu()
      .each_sample<ScalePlan>();
}

}  // namespace avida::ops
