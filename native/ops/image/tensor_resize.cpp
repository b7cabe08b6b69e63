#include "operator/axes.h"
#include "ops/image/resize_args.h"

namespace avida::ops {
namespace {

struct TensorResizeArgs : FilterArgs, RegionArgs {
  std::optional<Vec<int64_t>> axes;
  std::optional<Layout> axis_names;
  Vec<float> alignment = one_number(0.5f);
  std::optional<Vec<float>> scales, sizes;
  SizeRounding size_rounding = SizeRounding::round;

  static Vec<float> one_number(float number) {
    Vec<float> list;
    list.push_back(number);
    return list;
  }
};

Vec<int> find_axes(const TensorResizeArgs& args, int ndim, const Layout& layout) {
  if (args.axes) {
    for (int64_t axis : *args.axes)
      if (axis < -ndim || axis >= ndim)
        fail(ErrorKind::index, "expected an axis from ", -ndim, " to ", ndim - 1, ", got ", axis);
    for (int i = 0; i < args.axes->size(); i++)
      for (int k = 0; k < i; k++)
        if (((*args.axes)[i] - (*args.axes)[k]) % ndim == 0) value_error("axis ", (*args.axes)[i], " is given twice");
  }
  Vec<int> axes = resolve_axes(args.axes, args.axis_names, ndim, layout);
  if (!args.axes && !args.axis_names)
    for (int i = 0; i < ndim; i++) axes.push_back(i);
  return axes;
}

std::vector<AxisPlan> plan(const Sample<TensorResizeArgs>& sample) {
  const TensorResizeArgs& args = sample.args;
  const SampleView& in = sample.in[0];
  Vec<int> axes = find_axes(args, in.ndim(), in.layout);
  const int n = axes.size();
  std::vector<AxisPlan> plans;
  for (int axis : axes) plans.push_back({.axis = axis, .in = in.shape[axis]});
  set_regions(plans, args);
  for (int i = 0; i < n; i++) {
    AxisPlan& plan = plans[i];
    plan.alignment = number_for(args.alignment, i, n, "alignment");
    plan.wanted = args.sizes ? number_for(*args.sizes, i, n, "sizes")
                             : number_for(*args.scales, i, n, "scales") * static_cast<float>(plan.in);
  }
  // The other axes take part with the size they have.
  for (int axis = 0; axis < in.ndim(); axis++) {
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
    float size = static_cast<float>(in.shape[axis]);
    plans.push_back({.axis = axis, .in = in.shape[axis], .start = 0, .end = size, .wanted = size});
  }
  plan_sizes(plans, args, args.size_rounding);
  return plans;
}

}  // namespace

AVIDA_OP(tensor_resize, TensorResizeArgs) {
  op.doc("Resizes samples of any rank along any axes.")
      .input("input", "The samples to resize.")
      .arg("alignment", &TensorResizeArgs::alignment,
           "The point of the region that stays fixed where a size is rounded: 0 its start, 0.5 its centre, 1 its end.")
      .arg("axes", &TensorResizeArgs::axes, "The axes that sizes, scales and the region refer to, by default all.",
           fixed)
      .arg("axis_names", &TensorResizeArgs::axis_names, "The same axes, by their names in the layout.")
      .arg("scales", &TensorResizeArgs::scales,
           "The sizes as multiples of those of the input; a negative one mirrors the axis.")
      .arg("size_rounding", &TensorResizeArgs::size_rounding,
           "How sizes become integers: \"round\", \"truncate\" or \"ceil\".")
      .arg("sizes", &TensorResizeArgs::sizes, kSizesText)
      .example("avida.tensor_resize(image, sizes=[2, 3], axes=[0, 1])")
      .infer([](Infer<TensorResizeArgs>& call) {
        const TensorResizeArgs& args = call.args;
        infer_resize(args, args, call.call);
        bool scaled = args.scales || call.call.per_sample("scales");
        if (scaled == (args.sizes || call.call.per_sample("sizes"))) refuse("expected either \"sizes\" or \"scales\"");
        if (scaled && (args.mode == SizeMode::not_larger || args.mode == SizeMode::not_smaller))
          refuse("the mode \"", name_of(*args.mode), "\" needs \"sizes\", got \"scales\"");
        if (call.in[0].ndim == 0) refuse("expected an input with at least one axis");
        find_axes(args, call.in[0].ndim, call.in[0].layout);
      });
  filter_args(op);
  region_args(op);
  resamples<ResamplePlan<plan, TensorResizeArgs>>(op);
}

}  // namespace avida::ops
