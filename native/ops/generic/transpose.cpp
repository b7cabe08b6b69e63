#include "op/op.h"
#include "op/strided_copy.h"

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
    fail(ErrorKind::runtime, "expected ", in.ndim, " numbers in \"perm\", one for each axis, got ", perm.size());
  unsigned seen = 0;
  for (int d : perm) {
    if (d < 0 || d >= in.ndim || (seen >> d & 1))
      fail(ErrorKind::runtime, "\"perm\" must hold each number from 0 to ", in.ndim - 1, " once");
    seen |= 1u << d;
  }
  if (call.args.output_layout) {
    out.layout = *call.args.output_layout;
    if (!out.layout.empty() && out.layout.size() != in.ndim)
      fail(ErrorKind::runtime, "the output layout ", out.layout, " does not fit ", in.ndim, " axes");
  } else if (call.args.transpose_layout && !in.layout.empty()) {
    out.layout = Layout();
    for (int d : perm) out.layout.push_back(in.layout[d]);
  }
}

void set_shape(Sample<TransposeArgs>& sample) {
  for (int d : permutation(sample.args, sample.in[0].ndim())) sample.out[0].shape.push_back(sample.in[0].shape[d]);
}

StridedCopy moves(const Sample<TransposeArgs>& sample) {
  const SampleView& in = sample.in[0];
  Shape strides = dense_strides(in.shape), permuted;
  for (int d : permutation(sample.args, in.ndim())) permuted.push_back(strides[d]);
  return StridedCopy(size_of(in.dtype), sample.out[0].shape, permuted);
}

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
      .infer(infer_transpose)
      .each_sample(
          set_shape,
          [](const Sample<TransposeArgs>& sample) { moves(sample).run(sample, sample.out[0].data, sample.in[0].data); })
      .rows([](const Sample<TransposeArgs>& sample) { return moves(sample).rows(); })
      .on_gpu();
}

}  // namespace avida::ops
