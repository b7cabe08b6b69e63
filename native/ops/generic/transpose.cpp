#include "loops/moving/strided_move.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct TransposeArgs {
  std::optional<Layout> output_layout;
  std::optional<Vec<int>> perm;
  bool transpose_layout = true;
};

Vec<int> permutation(const TransposeArgs& args, int ndim) {
  if (args.perm) return *args.perm;
  Vec<int> reversed;
  for (int d = ndim - 1; d >= 0; d--) reversed.push_back(d);
  return reversed;
}

void infer_transpose(Infer<TransposeArgs>& call) {
  const Meta& in = call.in[0];
  Meta& out = call.out[0];
  Vec<int> perm = permutation(call.args, in.ndim);
  if (perm.size() != in.ndim)
    refuse("expected ", in.ndim, " numbers in \"perm\", one for each axis, got ", perm.size());
  unsigned seen = 0;
  for (int d : perm) {
    if (d < 0 || d >= in.ndim || (seen >> d & 1))
      refuse("\"perm\" must hold each number from 0 to ", in.ndim - 1, " once");
    seen |= 1u << d;
  }
  if (call.args.output_layout) {
    out.layout = *call.args.output_layout;
    if (!out.layout.empty() && out.layout.size() != in.ndim)
      refuse("the output layout ", out.layout, " does not fit ", in.ndim, " axes");
  } else if (call.args.transpose_layout && !in.layout.empty()) {
    out.layout = Layout();
    for (int d : perm) out.layout.push_back(in.layout[d]);
  }
}

class TransposePlan {
 public:
  explicit TransposePlan(const Sample<TransposeArgs>& sample) : TransposePlan(sample.in[0], sample.args) {}

  const Shape& shape() const { return shape_; }
  int64_t rows() const { return move_.rows(); }
  void run(const Sample<TransposeArgs>& sample) const { move_.run(sample, sample.out[0].data, sample.in[0].data); }

 private:
  TransposePlan(const SampleView& in, const TransposeArgs& args)
      : TransposePlan(in, permutation(args, in.ndim()), dense_strides(in.shape)) {}
  TransposePlan(const SampleView& in, const Vec<int>& perm, const Shape& strides)
      : shape_(permuted(in.shape, perm)), move_(size_of(in.dtype), shape_, permuted(strides, perm)) {}

  static Shape permuted(const Shape& extents, const Vec<int>& perm) {
    Shape out;
    for (int d : perm) out.push_back(extents[d]);
    return out;
  }

  Shape shape_;
  StridedMove move_;
};

}  // namespace

AVIDA_OP(transpose, TransposeArgs) {
  op.doc("Puts the axes into another order.")
      .input("input", "The samples to transpose.")
      .arg("output_layout", &TransposeArgs::output_layout, "The layout of the output, whatever the input's.")
      .arg("perm", &TransposeArgs::perm,
           "The input axis that each output axis comes from; by default the reverse order.", fixed)
      .arg("transpose_layout", &TransposeArgs::transpose_layout,
           "Whether the letters of the layout move with the axes.", fixed)
      .example("avida.transpose(image, perm=[2, 0, 1])")
      .takes_enums()
      .infer(infer_transpose)
      .each_sample<TransposePlan>();
}

}  // namespace avida::ops
