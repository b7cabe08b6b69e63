#include "loops/moving/strided_move.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct SequenceRearrangeArgs {
  std::vector<int> new_order;
};

// A row is a frame.
class RearrangePlan {
 public:
  explicit RearrangePlan(const Sample<SequenceRearrangeArgs>& sample) : order_(sample.args.new_order) {
    const int64_t frames = sample.in[0].shape[0];
    if (order_.empty()) refuse("expected at least one frame in \"new_order\", got none");
    for (int frame : order_)
      if (frame < 0 || frame >= frames)
        refuse("expected frames from 0 to below ", frames, " in \"new_order\", got ", frame);
    shape_ = sample.in[0].shape;
    shape_[0] = std::ssize(order_);
  }

  const Shape& shape() const { return shape_; }
  int64_t rows() const { return shape_[0]; }
  void run(const Sample<SequenceRearrangeArgs>& sample) const {
    const int64_t bytes = sample.out[0].bytes() / rows();
    const DenseMove frame(bytes);
    for (int64_t i = sample.begin; i < sample.end; i++)
      frame.run_whole(sample, sample.out[0].as<char>() + i * bytes, sample.in[0].as<char>() + order_[i] * bytes);
  }

 private:
  const std::vector<int>& order_;
  Shape shape_;
};

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
      .each_sample<RearrangePlan>();
}

}  // namespace avida::ops
