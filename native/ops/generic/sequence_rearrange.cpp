#include "loops/moving/strided_move.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct SequenceRearrangeArgs {
  std::vector<int> new_order;
};

void set_shape(Sample<SequenceRearrangeArgs>& sample) {
  Shape shape = sample.in[0].shape;
  const std::vector<int>& order = sample.args.new_order;
  if (order.empty()) refuse("expected at least one frame in \"new_order\", got none");
  for (int frame : order)
    if (frame < 0 || frame >= shape[0])
      refuse("expected frames from 0 to below ", shape[0], " in \"new_order\", got ", frame);
  shape[0] = std::ssize(order);
  sample.out[0].shape = shape;
}

}  // namespace

AVIDA_OP(sequence_rearrange, SequenceRearrangeArgs) {
  using Args = SequenceRearrangeArgs;
  op.doc("Reorders the frames of sequences. A frame may come several times or not at all.")
      .input("input", "Sequences: their first axis is that of the frames.")
      .arg("new_order", &Args::new_order, "For each frame of the result, the index of the frame to take.", required)
      .example("avida.sequence_rearrange(np.zeros((4, 6, 8, 3), np.uint8), new_order=[3, 2, 1, 0])")
      .infer([](Infer<Args>& call) {
        const Meta& in = call.in[0];
        if (in.ndim < 1) refuse("expected sequences, got single numbers");
        if (in.layout.size() > 0 && in.layout[0] != 'F')
          refuse("expected a layout that starts with F, got ", in.layout);
      })
      .each_sample(set_shape,
                   [](const Sample<Args>& sample) {
                     const int64_t bytes = sample.out[0].bytes() / sample.out[0].shape[0];
                     const DenseMove frame(bytes);
                     for (int64_t i = sample.begin; i < sample.end; i++)
                       frame.run_whole(sample, sample.out[0].as<char>() + i * bytes,
                                       sample.in[0].as<char>() + sample.args.new_order[i] * bytes);
                   })
      .rows([](const Sample<Args>& sample) { return sample.out[0].shape[0]; });
}

}  // namespace avida::ops
