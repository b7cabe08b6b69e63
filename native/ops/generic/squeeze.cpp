#include "operator/axes.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct SqueezeArgs {
  std::optional<Vec<int64_t>> axes;
  std::optional<Layout> axis_names;
};

bool contains(const Vec<int>& axes, int d) { return std::find(axes.begin(), axes.end(), d) != axes.end(); }

Layout without(const Layout& layout, const Vec<int>& axes) {
  Layout out;
  for (int d = 0; d < layout.size(); d++)
    if (!contains(axes, d)) out.push_back(layout[d]);
  return out;
}

void infer_squeeze(Infer<SqueezeArgs>& call) {
  const Meta& in = call.in[0];
  Meta& out = call.out[0];
  bool per_sample = call.call.per_sample("axes");
  if (!per_sample && !call.args.axes && !call.args.axis_names) refuse("expected \"axes\" or \"axis_names\"");
  if (per_sample) {
    out.ndim = -1;
    return;
  }
  Vec<int> axes = resolve_axes(call.args.axes, call.args.axis_names, in.ndim, in.layout);
  out.ndim = in.ndim - axes.size();
  out.layout = without(in.layout, axes);
}

void set_shape(Sample<SqueezeArgs>& sample) {
  const SampleView& in = sample.in[0];
  SampleView& out = sample.out[0];
  Vec<int> axes = resolve_axes(sample.args.axes, sample.args.axis_names, in.ndim(), in.layout);
  for (int d = 0; d < in.ndim(); d++)
    if (!contains(axes, d)) out.shape.push_back(in.shape[d]);
  if (out.elements() != in.elements()) refuse("only axes of extent 1 can be removed; the shape is ", in.shape);
  out.layout = without(in.layout, axes);
}

}  // namespace

AVIDA_OP(squeeze, SqueezeArgs) {
  op.doc("Removes axes of extent 1; nothing is copied.")
      .input("data", "The samples to squeeze.")
      .arg("axes", &SqueezeArgs::axes, "The axes to remove; negative ones count from the end.")
      .arg("axis_names", &SqueezeArgs::axis_names, "The axes to remove, by their letters in the layout.")
      .example("avida.squeeze(avida.expand_dims(image, axes=0), axes=0)")
      .takes_enums()
      .infer(infer_squeeze)
      .view(set_shape);
}

}  // namespace avida::ops
