#include "operator/declare.h"

namespace avida::ops {
namespace {

struct PerFrameArgs {
  bool replace = false;
};

}  // namespace

AVIDA_OP(per_frame, PerFrameArgs) {
  op.doc(
        "Marks values as belonging to the frames of sequences, along the first axis. An operator on videos takes them "
        "as arguments for each frame. Nothing is copied.")
      .input("input", "The values, at least with the axis of the frames.")
      .arg("replace", &PerFrameArgs::replace,
           "Rename the first axis where the layout has another letter there than F, instead of raising an error.",
           fixed)
      .example(
          "avida.brightness(avida.tensor(np.ones((2, 4, 6, 3)), layout=\"FHWC\"), brightness=avida.per_frame([1, 2]))")
      .infer([](Infer<PerFrameArgs>& call) {
        Meta& out = call.out[0];
        if (out.ndim == 0) refuse("expected values for each frame, got a single number");
        if (!out.layout.empty() && !is_sequence(out.layout) && !call.args.replace)
          refuse("expected a layout that begins with F, got ", out.layout, "; replace=True renames the first axis");
        out.layout = with_frames(without_frames(out.layout), out.ndim - 1);
      })
      .takes_enums()
      .view(same_shape);
}

}  // namespace avida::ops
