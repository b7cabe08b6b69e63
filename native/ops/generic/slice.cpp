#include "ops/generic/slice.h"

#include <cmath>

#include "codecs/codec.h"
#include "core/parts/slice_range.h"
#include "loops/moving/window_args.h"
#include "operator/axes.h"
#include "ops/scenes/moves.h"

namespace avida::ops {
namespace {

struct SliceArgs : WindowArgs, SlicePlace {};

Vec<int> sliced_axes(const SlicePlace& args, int ndim, const Layout& given_layout) {
  Layout layout = layout_or_default(given_layout, ndim);
  bool by_default = !args.axes && !args.axis_names;
  Vec<int> axes = resolve_axes(args.axes, by_default ? Layout("WH") : args.axis_names, ndim, layout);
  if (axes.empty())
    for (int d = 0; d < ndim; d++) axes.push_back(d);
  return axes;
}

// The number for the i-th of n axes: one number counts for all, none means not given.
template <class T>
std::optional<T> number_for(const std::optional<Vec<T>>& numbers, int i, int n, const char* name) {
  if (!numbers || numbers->empty()) return std::nullopt;
  if (numbers->size() != 1 && numbers->size() != n)
    refuse("expected ", n, " numbers in \"", name, "\", one for each axis, got ", numbers->size());
  return (*numbers)[numbers->size() == 1 ? 0 : i];
}

SliceRange named_range(const SlicePlace& args, int i, int n, int64_t extent) {
  return slice_range({.start = number_for(args.start, i, n, "start"),
                      .end = number_for(args.end, i, n, "end"),
                      .shape = number_for(args.shape, i, n, "shape"),
                      .rel_start = number_for(args.rel_start, i, n, "rel_start"),
                      .rel_end = number_for(args.rel_end, i, n, "rel_end"),
                      .rel_shape = number_for(args.rel_shape, i, n, "rel_shape")},
                     extent);
}

SliceRange input_range(const SlicePlace& place, const SampleView& anchor, const SampleView& shape, int i, int n,
                       int64_t extent) {
  auto number = [&](const SampleView& in, bool normalized, const char* name) {
    if (in.elements() != n) refuse("expected ", n, " numbers as the ", name, ", got the shape ", in.shape);
    double value = arg::element<double>(in.data, in.dtype, i);
    return is_float(in.dtype) && normalized ? value * static_cast<double>(extent) : value;
  };
  double start = number(anchor, place.normalized_anchor, "anchor");
  double size = number(shape, place.normalized_shape, "shape");
  check_slice_extent(size);
  return {rounded_place(start), rounded_place(start + size)};
}

}  // namespace

void check_slice_place(const SlicePlace& args, const Inference& call, int ndim, const Layout& layout) {
  auto count = [&](std::initializer_list<std::pair<const char*, bool>> named) {
    int n = 0;
    for (auto& [name, is_fixed] : named) n += is_fixed || call.per_sample(name);
    return n;
  };
  int starts = count({{"start", args.start.has_value()}, {"rel_start", args.rel_start.has_value()}});
  int ends = count({{"end", args.end.has_value()},
                    {"rel_end", args.rel_end.has_value()},
                    {"shape", args.shape.has_value()},
                    {"rel_shape", args.rel_shape.has_value()}});
  if (starts > 1) refuse("expected \"start\" or \"rel_start\", got both");
  if (ends > 1) refuse("expected one of \"end\", \"rel_end\", \"shape\" and \"rel_shape\", got several");
  const Meta &anchor = call.in[1], &shape = call.in[2];
  bool by_inputs = anchor.dtype != DType::none;
  if (by_inputs != (shape.dtype != DType::none)) refuse("expected both anchor and shape inputs, or none");
  if (by_inputs && starts + ends > 0) refuse("expected anchor and shape as inputs, or as named arguments, got both");
  if (!by_inputs && starts + ends == 0)
    refuse("expected where to slice: \"start\", \"end\", \"shape\", or anchor and shape as inputs");
  if (by_inputs && (anchor.dtype != shape.dtype || anchor.dtype == DType::boolean))
    refuse("anchor and shape must be numbers of one type, got ", anchor.dtype, " and ", shape.dtype);
  if (!call.per_sample("axes")) sliced_axes(args, ndim, layout);
}

Window slice_window(const SlicePlace& place, const SampleView& anchor, const SampleView& shape_input,
                    const Shape& shape, const Layout& layout) {
  Window window{.start = {}, .size = shape};
  window.start.resize(shape.size(), 0);
  Vec<int> axes = sliced_axes(place, shape.size(), layout);
  for (int i = 0; i < axes.size(); i++) {
    int64_t extent = shape[axes[i]];
    SliceRange range = anchor.dtype != DType::none ? input_range(place, anchor, shape_input, i, axes.size(), extent)
                                                   : named_range(place, i, axes.size(), extent);
    window.start[axes[i]] = range.start;
    window.size[axes[i]] = range.end - range.start;
  }
  return window;
}

namespace {

void infer_slice(Infer<SliceArgs>& call) {
  infer_window(call.args, call.out[0]);
  check_slice_place(call.args, call.call, call.in[0].ndim, call.in[0].layout);
}

Window find_window(const Sample<SliceArgs>& sample) {
  return slice_window(sample.args, sample.in[1], sample.in[2], sample.in[0].shape, sample.in[0].layout);
}

Moves slice_moves(const Sample<SliceArgs>& sample) {
  Window window = find_window(sample);
  fit_window(window, sample.in[0], sample.args);
  return moves_to_window(window, sample.in[0]);
}

}  // namespace

AVIDA_OP(slice, SliceArgs) {
  op.doc("Cuts a window out of every sample, by absolute or relative coordinates.")
      .input("data", "The samples to slice.")
      .arg("dtype", &SliceArgs::dtype, kWindowDTypeText)
      .arg("fill_values", &SliceArgs::fill_values, kFillValuesText, fixed | takes_nan)
      .ignored("image_type", codecs::ImageType::rgb)
      .arg("out_of_bounds_policy", &SliceArgs::out_of_bounds_policy, kOutOfBoundsText)
      .arg("output_dtype", &SliceArgs::output_dtype, kOutputDTypeText)
      .example("avida.slice(image, start=[1, 0], shape=[2, 3], axis_names=\"HW\")")
      .infer(infer_slice);
  slice_place_args(op);
  shows_window<find_window>(op);
}

AVIDA_MOVES(slice, SliceArgs, slice_moves)

}  // namespace avida::ops
