#include "op/reduce.h"

#include <bit>
#include <cmath>

#include "op/axes.h"

namespace avida::reduction {
namespace {

constexpr int64_t kWorthThreads = 128 << 10;  // bytes; below, waking a thread costs more than it saves

// The axes to fold, one bit each.
unsigned axes_to_fold(const ReduceArgs& args, int ndim, const Layout& layout) {
  unsigned axes = 0;
  auto add = [&](int axis) {
    if (axes >> axis & 1) value_error("the axis ", axis, " is given twice");
    axes |= 1u << axis;
  };
  if (args.axes && args.axis_names) fail(ErrorKind::runtime, "expected either axes or axis_names, got both");
  if (args.axes) {
    for (int axis : *args.axes) {
      if (axis < -ndim || axis >= ndim)
        fail(ErrorKind::index, "the axis ", axis, " is out of range for samples of ", ndim, " axes");
      add(axis < 0 ? axis + ndim : axis);
    }
  } else if (args.axis_names) {
    for (char letter : args.axis_names->view()) add(named_axis(letter, layout));
  } else {
    axes = (1u << ndim) - 1;
  }
  return axes;
}

Shape shape_after(const Shape& shape, unsigned axes, bool keep_dims) {
  Shape out;
  for (int d = 0; d < shape.size(); d++) {
    bool fold = axes >> d & 1;
    if (!fold || keep_dims) out.push_back(fold ? 1 : shape[d]);
  }
  return out;
}

}  // namespace

Plan::Plan(const Shape& shape, unsigned axes) {
  Shape extents, strides = dense_strides(shape), places;
  unsigned fold_bits = 0;
  for (int d = shape.size() - 1; d >= 0; d--) {
    bool fold = axes >> d & 1;
    (fold ? count : outputs) *= shape[d];
    if (shape[d] == 1) continue;
    int last = extents.size() - 1;
    if (last >= 0 && (fold_bits >> last & 1) == fold) {
      extents[last] *= shape[d];
    } else {
      fold_bits |= unsigned(fold) << extents.size();
      extents.push_back(shape[d]);
      places.push_back(strides[d]);
    }
  }
  // Innermost first from here on.
  int at = 0;
  columns = !extents.empty() && !(fold_bits & 1);
  if (columns) width = extents[at++];
  if (at < extents.size()) run = extents[at++];
  for (int d = extents.size() - 1; d >= at; d--) {
    bool fold = fold_bits >> d & 1;
    (fold ? folded : kept).push_back(extents[d]);
    (fold ? folded_strides : kept_strides).push_back(places[d]);
  }
  if (outputs == 0) return;
  groups = columns ? outputs / width * groups_per_row() : (outputs + kGroup - 1) / kGroup;
  piece = columns ? std::max<int64_t>(1, kPiece / std::min(width, kGroup)) : kPiece;
  chunks = (run + piece - 1) / piece;
  pieces = chunks * volume(folded);
  int64_t in_group = count * std::min(outputs, kGroup);
  blocks = std::clamp<int64_t>(std::min(in_group / kPiece, kMostBlocks / groups), 1, std::max<int64_t>(pieces, 1));
}

int64_t gpu_parts(const Plan& plan) {
  constexpr int64_t kThreads = 256 << 10;  // enough for any GPU
  const auto balanced = static_cast<int64_t>(std::sqrt(static_cast<double>(plan.count)));
  return std::clamp<int64_t>(balanced, 1, std::max<int64_t>(1, kThreads / std::max<int64_t>(1, plan.outputs)));
}

void load_centers(const SampleView& mean, int64_t first, int64_t n, double* to) {
  with_dtype(mean.dtype, [&](auto type) {
    const auto* from = mean.as<const typename decltype(type)::type>();
    if (mean.elements() == 1)
      for (int64_t i = 0; i < n; i++) to[i] = convert<double>(from[0]);
    else
      for (int64_t i = 0; i < n; i++) to[i] = convert<double>(from[first + i]);
  });
}

Reduction::Reduction(const Run& run) {
  const auto& args = *static_cast<const ReduceArgs*>(run.args.at(0));
  const Data& data = *run.in[0];
  unsigned axes = axes_to_fold(args, data.shapes.ndim(), data.layout);
  int n = run.samples;
  ShapeList shapes(n, std::max(0, run.out[0].ndim));
  plans.reserve(n);
  int64_t bytes = 0;
  for (int i = 0; i < n; i++) {
    SampleView views[2];
    input_views(run, i, std::span(views, run.in.size()));
    Shape after = shape_after(views[0].shape, axes, args.keep_dims);
    if (run.in.size() == 2)
      at_sample(run, i, [&] {
        const Shape& found = views[1].shape;
        Shape bare = shape_after(views[0].shape, axes, false), whole = shape_after(views[0].shape, axes, true);
        if (!(found == bare || found == whole || volume(found) == 1))
          fail(ErrorKind::runtime, "expected a mean of the shape ", bare, " or ", whole, ", got ", found);
      });
    shapes.set(i, after);
    in.push_back(views[0]);
    mean.push_back(views[1]);
    plans.emplace_back(views[0].shape, axes);
    bytes += views[0].bytes() + plans[i].outputs * size_of(run.out[0].dtype);
  }
  result = allocate_data(run.out[0], shapes, run.launches);
  threads = bytes >= kWorthThreads;
  for (int i = 0; i < n; i++) {
    out.push_back({result.at(i), shapes[i], result.dtype, result.layout});
    const Plan& plan = plans[i];
    int64_t in_group = std::max<int64_t>(1, plan.count) * std::min(plan.outputs, kGroup);
    int64_t together = plan.blocks > 1 ? 1 : std::max<int64_t>(1, kPiece / std::max<int64_t>(1, in_group));
    for (int64_t group = 0; group < plan.groups; group += together)
      for (int64_t block = 0; block < plan.blocks; block++) {
        int64_t groups = std::min(together, plan.groups - group);
        parts.push_back({i, group, groups, block, plan.blocks > 1 ? scratch : -1});
        if (plan.blocks > 1) scratch += plan.outputs_of(group);
      }
  }
}

void infer(Infer<ReduceArgs>& call, DType dtype) {
  const Meta& in = call.in[0];
  Meta& out = call.out[0];
  unsigned axes = axes_to_fold(call.args, in.ndim, in.layout);
  out.dtype = call.args.dtype == DType::none ? dtype : call.args.dtype;
  if (call.args.keep_dims) return;
  out.ndim = in.ndim - std::popcount(axes);
  out.layout = Layout();
  for (int d = 0; d < in.layout.size(); d++)
    if (!(axes >> d & 1)) out.layout.push_back(in.layout[d]);
}

}  // namespace avida::reduction
