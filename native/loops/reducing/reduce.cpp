#include "loops/reducing/reduce.h"

#include <bit>
#include <cmath>
#include <memory>

#include "operator/axes.h"
#include "runtime/thread_pool.h"

namespace avida::reduction {
namespace {

// On a GPU, longer rows of few outputs are folded by blocks of threads.
constexpr int64_t kLeastRow = 4096, kMostRowWidth = 256;
constexpr int64_t kWorthThreads = 1 << 20;  // bytes; below, waking a thread costs more than it saves

// The axes to fold, one bit each.
unsigned axes_to_fold(const ReduceArgs& args, int ndim, const Layout& layout) {
  unsigned axes = 0;
  auto add = [&](int axis) {
    if (axes >> axis & 1) value_error("the axis ", axis, " is given twice");
    axes |= 1u << axis;
  };
  if (args.axes && args.axis_names) refuse("expected either axes or axis_names, got both");
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
  Shape extents, strides = dense_strides(shape), steps;
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
      steps.push_back(strides[d]);
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
    (fold ? folded_strides : kept_strides).push_back(steps[d]);
  }
  if (outputs == 0) return;
  groups = columns ? outputs / width * groups_per_row() : (outputs + kGroup - 1) / kGroup;
  piece = columns ? std::max<int64_t>(1, kPiece / std::min(width, kGroup)) : kPiece;
  chunks = (run + piece - 1) / piece;
  pieces = chunks * volume(folded);
  int64_t in_group = count * std::min(outputs, kGroup);
  blocks = std::clamp<int64_t>(std::min(in_group / kPiece, kMostBlocks / groups), 1, std::max<int64_t>(pieces, 1));
}

namespace {

// The count of parts that different threads of a GPU fold: about the square root of all elements, where there are few
// outputs.
int64_t gpu_parts(const Plan& plan) {
  constexpr int64_t kThreads = 256 << 10;  // enough for any GPU
  const auto balanced = static_cast<int64_t>(std::sqrt(static_cast<double>(plan.count)));
  return std::clamp<int64_t>(balanced, 1, std::max<int64_t>(1, kThreads / std::max<int64_t>(1, plan.outputs)));
}

// Copies the means that a group's outputs are measured against.
void load_centers(const SampleView& mean, int64_t first, int64_t n, double* to) {
  with_dtype(mean.dtype, [&](auto type) {
    const auto* from = mean.as<const typename decltype(type)::type>();
    if (mean.elements() == 1)
      for (int64_t i = 0; i < n; i++) to[i] = convert<double>(from[0]);
    else
      for (int64_t i = 0; i < n; i++) to[i] = convert<double>(from[first + i]);
  });
}

struct Part {
  int sample;
  int64_t group, groups;  // first and how many
  int64_t block;
  int64_t scratch;  // where the block's totals go; -1: straight to the output
};

// Everything but the arithmetic: shapes, memory, and what each thread does.
struct Reduction {
  std::vector<SampleView> in, mean, out;
  std::vector<Plan> plans;
  std::vector<Part> parts;
  int64_t scratch = 0;  // totals to keep until all blocks are done
  bool threads = false;
  Data result;

  explicit Reduction(const Run& run);
};

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
          refuse("expected a mean of the shape ", bare, " or ", whole, ", got ", found);
      });
    shapes.set(i, after);
    in.push_back(views[0]);
    mean.push_back(views[1]);
    plans.emplace_back(views[0].shape, axes);
    bytes += views[0].bytes() + plans[i].outputs * size_of(run.out[0].dtype);
  }
  result = allocate_output(run, 0, shapes);
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

void run_parts(const Run& run, const Steps& steps, const Reduction& work) {
  const auto& [folding, finishing] = steps;
  const int ddof = static_cast<const ReduceArgs*>(run.args.at(0))->ddof;
  std::unique_ptr<char[]> scratch(new char[work.scratch * folding.total_bytes]);
  auto do_part = [&](int64_t p) {
    const Part& part = work.parts[p];
    const Plan& plan = work.plans[part.sample];
    alignas(64) char totals[kGroup * sizeof(__int128)];
    alignas(64) double centers[kGroup];
    int64_t begin = plan.pieces * part.block / plan.blocks, end = plan.pieces * (part.block + 1) / plan.blocks;
    for (int64_t group = part.group; group < part.group + part.groups; group++) {
      int64_t first = plan.first_output(group), n = plan.outputs_of(group);
      if (folding.centered) load_centers(work.mean[part.sample], first, n, centers);
      char* to = part.scratch < 0 ? totals : scratch.get() + part.scratch * folding.total_bytes;
      folding.fold(plan, work.in[part.sample].data, group, begin, end, centers, to);
      if (part.scratch < 0) finishing.store(work.out[part.sample], first, to, n, plan.count, ddof, centers);
    }
  };
  int64_t parts = std::ssize(work.parts);
  if (work.threads)
    run.pool.parallel_for(parts, do_part);
  else
    for (int64_t p = 0; p < parts; p++) do_part(p);

  // The totals of a group's blocks are adjacent, in order.
  for (const Part& part : work.parts) {
    if (part.scratch < 0 || part.block > 0) continue;
    const Plan& plan = work.plans[part.sample];
    alignas(64) double centers[kGroup];
    int64_t first = plan.first_output(part.group), n = plan.outputs_of(part.group), bytes = n * folding.total_bytes;
    char* totals = scratch.get() + part.scratch * folding.total_bytes;
    for (int64_t block = 1; block < plan.blocks; block++) folding.join(totals, totals + block * bytes, n);
    if (folding.centered) load_centers(work.mean[part.sample], first, n, centers);
    finishing.store(work.out[part.sample], first, totals, n, plan.count, ddof, centers);
  }
}

}  // namespace

FoldedParts launch_fold(Launches& launches, const Folding& folding, const Plan& plan, const SampleView& in,
                        const Means& means) {
  const int64_t elements = plan.run * plan.width;
  const bool rows = folding.launch_rows && plan.folded.empty() && plan.width <= kMostRowWidth && elements >= kLeastRow;
  const auto width = static_cast<unsigned>(plan.width);
  const int64_t parts = rows ? folding.parts_of_row(elements, width) : gpu_parts(plan);
  void* totals = launches.scratch(plan.outputs * parts * folding.total_bytes);
  if (rows && parts >> 32 == 0) {
    folding.launch_rows(launches, plan.outputs / plan.width * parts,
                        {totals, in.data, means, elements, width, static_cast<unsigned>(parts)});
    return {totals, parts};
  }
  FoldParams params{.totals = totals,
                    .in = in.data,
                    .means = means,
                    .count = plan.count,
                    .parts = parts,
                    .run = plan.run,
                    .width = plan.width,
                    .kept_axes = plan.kept.size(),
                    .folded_axes = plan.folded.size()};
  std::ranges::copy(plan.kept, params.kept);
  std::ranges::copy(plan.kept_strides, params.kept_step);
  std::ranges::copy(plan.folded, params.folded);
  std::ranges::copy(plan.folded_strides, params.folded_step);
  folding.launch(launches, plan.outputs * parts, params);
  return {totals, parts};
}

void launch(Launches& launches, const Steps& steps, const Plan& plan, const SampleView& in, const SampleView& mean,
            const SampleView& out, int ddof) {
  const Means means{mean.data, static_cast<int>(mean.dtype), mean.data && mean.elements() == 1};
  const auto [totals, parts] = launch_fold(launches, steps.folding, plan, in, means);
  launches.then();
  steps.finishing.launch(launches, plan.outputs,
                         {out.data, totals, means, static_cast<int>(out.dtype), ddof, plan.count, parts, plan.width});
}

std::vector<Data> run_steps(const Run& run, const Steps& steps) {
  Reduction work(run);
  if (!run.launches) {
    run_parts(run, steps, work);
    return {std::move(work.result)};
  }
  const int ddof = static_cast<const ReduceArgs*>(run.args.at(0))->ddof;
  for (int i = 0; i < run.samples; i++) {
    launch(*run.launches, steps, work.plans[i], work.in[i], work.mean[i], work.out[i], ddof);
    run.launches->next_sample();
  }
  return {std::move(work.result)};
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
