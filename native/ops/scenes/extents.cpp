// scenes.extents: height and width of images, wherever their pixels are.
#include "ops/scenes/moves.h"

namespace avida::ops {
namespace {

struct ExtentsPlan {
  Shape shape() const { return {2}; }
  void run(const Sample<NoArgs>& sample) const {
    for (int axis : {0, 1}) sample.out[0].as<int32_t>()[1 - axis] = static_cast<int32_t>(extent_of(sample.in[0], axis));
  }
};

}  // namespace

AVIDA_OP_IN(scenes, extents, NoArgs) {
  op.doc("Height and width of images.")
      .hidden()
      .input("image", "The images.", {"HWC", "CHW", "HW", "FHWC", "FCHW", "CFHW"})
      .infer([](Infer<NoArgs>& call) {
        Meta& out = call.out[0];
        out.dtype = DType::int32;
        out.ndim = 1;
        out.layout = {};
      })
      .on_cpu()
      .each_sample<ExtentsPlan>();
  op.spec.per_frame = false;
}

}  // namespace avida::ops
