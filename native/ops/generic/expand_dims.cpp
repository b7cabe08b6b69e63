#include "operator/declare.h"

namespace avida::ops {
namespace {

struct ExpandDimsArgs {
  Vec<int64_t> axes;
  Layout new_axis_names;
};

// For each axis of the output, which of `axes` it is; -1 for an axis of the input.
Vec<int> new_axes(const Vec<int64_t>& axes, int ndim) {
  int out_ndim = ndim + axes.size();
  if (out_ndim > kMaxDim) refuse("a sample can have at most ", kMaxDim, " axes, got ", out_ndim);
  int from[kMaxDim];
  std::fill_n(from, kMaxDim, -1);
  for (int k = 0; k < axes.size(); k++) {
    int64_t axis = axes[k];
    if (axis < 0 || axis >= out_ndim)
      refuse("expected axes from 0 to ", out_ndim - 1, ", counted in the output, got ", axis);
    if (from[axis] >= 0) refuse("axis ", axis, " is given twice");
    from[axis] = k;
  }
  Vec<int> out;
  for (int d = 0; d < out_ndim; d++) out.push_back(from[d]);
  return out;
}

void infer_expand_dims(Infer<ExpandDimsArgs>& call) {
  auto& args = call.args;
  const Meta& in = call.in[0];
  Meta& out = call.out[0];
  Vec<int> from = new_axes(args.axes, in.ndim);
  out.ndim = from.size();
  if (args.axes.empty() && args.new_axis_names.empty()) return;
  out.layout = Layout();
  if (args.new_axis_names.empty()) return;
  if (args.new_axis_names.size() != args.axes.size())
    refuse("expected ", args.axes.size(), " letters in \"new_axis_names\", one for each of \"axes\", got ",
           args.new_axis_names);
  if (in.layout.empty() && in.ndim > 0) refuse("\"new_axis_names\" needs an input with a layout");
  for (int d = 0, next = 0; d < from.size(); d++)
    out.layout.push_back(from[d] >= 0 ? args.new_axis_names[from[d]] : in.layout[next++]);
}

void set_shape(Sample<ExpandDimsArgs>& sample) {
  const Shape& in = sample.in[0].shape;
  Vec<int> from = new_axes(sample.args.axes, in.size());
  for (int d = 0, next = 0; d < from.size(); d++) sample.out[0].shape.push_back(from[d] >= 0 ? 1 : in[next++]);
}

}  // namespace

AVIDA_OP(expand_dims, ExpandDimsArgs) {
  op.doc("Inserts axes of extent 1; nothing is copied.")
      .input("data", "The samples to add axes to.")
      .arg("axes", &ExpandDimsArgs::axes, "The positions of the new axes in the output.", required | fixed)
      .arg("new_axis_names", &ExpandDimsArgs::new_axis_names,
           "A letter for each new axis, in the order of axes. Without it, the output has no layout.")
      .example("avida.expand_dims(image, axes=0, new_axis_names=\"F\")")
      .takes_enums()
      .infer(infer_expand_dims)
      .view(set_shape);
}

}  // namespace avida::ops
