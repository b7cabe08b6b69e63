#include "loops/moving/window.h"
#include "operator/axes.h"
#include "operator/declare.h"
#include "ops/scenes/moves.h"

namespace avida::ops {
namespace {

struct PadArgs {
  std::optional<Vec<int64_t>> align, axes;
  std::optional<Layout> axis_names;
  float fill_value = 0;
  std::optional<Vec<int64_t>> shape;
};

// The padded axes: all of them when none are named.
Vec<int> padded_axes(const PadArgs& args, int ndim, const Layout& layout) {
  Vec<int> axes = resolve_axes(args.axes, args.axis_names, ndim, layout);
  if (axes.empty())
    for (int d = 0; d < ndim; d++) axes.push_back(d);
  return axes;
}

// The number for the i-th of `axes` axes; one number counts for all.
int64_t number_for(const Vec<int64_t>& numbers, int i, int axes, const char* name) {
  if (numbers.size() != 1 && numbers.size() != axes)
    refuse("expected ", axes, " numbers in \"", name, "\", one for each axis, got ", numbers.size());
  return numbers[numbers.size() == 1 ? 0 : i];
}

Shape padded_shape(const PadArgs& args, const SampleView& in, const Shape& largest) {
  Shape out = in.shape;
  Vec<int> axes = padded_axes(args, in.ndim(), in.layout);
  for (int i = 0; i < axes.size(); i++) {
    int64_t& extent = out[axes[i]];
    int64_t wanted = args.shape && !args.shape->empty() ? number_for(*args.shape, i, axes.size(), "shape") : -1;
    extent = std::max(extent, wanted < 0 ? largest[axes[i]] : wanted);
    if (!args.align || args.align->empty()) continue;
    int64_t align = number_for(*args.align, i, axes.size(), "align");
    if (align <= 0) refuse("expected positive numbers in \"align\", got ", align);
    int64_t excess = extent % align;
    if (excess && __builtin_add_overflow(extent, align - excess, &extent))
      refuse("the extent of axis ", axes[i], " is too large to be a multiple of ", align, ", as \"align\" says");
  }
  return out;
}

WindowCopy moves(const SampleWork& work) {
  auto& args = *static_cast<const PadArgs*>(work.args);
  const SampleView &out = work.out[0], &in = work.in[0];
  Window window{.start = {}, .size = out.shape};
  window.start.resize(in.ndim(), 0);
  return WindowCopy(out, in, window, OutOfBounds::constant, {&args.fill_value, 1});
}

std::vector<Data> run_pad(const Run& run) {
  const ShapeList& shapes = run.in[0]->shapes;
  Shape largest;
  largest.resize(shapes.ndim(), 0);
  for (int i = 0; i < shapes.samples(); i++)
    for (int d = 0; d < shapes.ndim(); d++) largest[d] = std::max(largest[d], shapes.dims(i)[d]);
  SampleLoop loop;
  loop.shape = [&](SampleWork& work) {
    work.out[0].shape = padded_shape(*static_cast<const PadArgs*>(work.args), work.in[0], largest);
  };
  loop.rows = [](const SampleWork& work) { return moves(work).rows(); };
  loop.body = [](const SampleWork& work) { moves(work).run(work); };
  return run_samples(run, loop);
}

Moves pad_moves(const Sample<PadArgs>&) { return {}; }  // it pads at the ends

}  // namespace

AVIDA_OP(pad, PadArgs) {
  op.doc("Pads samples at the end of their axes. By default to the largest extents in the batch.")
      .input("input", "The samples to pad.")
      .arg("align", &PadArgs::align, "Makes the extents of the padded axes multiples of these numbers.")
      .arg("axes", &PadArgs::axes, "The axes to pad; negative ones count from the end. By default all.")
      .arg("axis_names", &PadArgs::axis_names, "The axes to pad, by their letters in the layout.")
      .arg("fill_value", &PadArgs::fill_value, "The number to fill with.", takes_nan)
      .arg("shape", &PadArgs::shape,
           "The least extents of the padded axes; -1 means the largest extent in the batch. Nothing is cropped.")
      .example("avida.pad(batch, fill_value=255)")
      .infer([](Infer<PadArgs>& call) {
        if (!call.call.per_sample("axes")) padded_axes(call.args, call.in[0].ndim, call.in[0].layout);
      })
      .custom(run_pad)
      .on_gpu();
}

AVIDA_MOVES(pad, PadArgs, pad_moves)

}  // namespace avida::ops
