#include "ops/paste/erase.h"

#include <cstring>

#include "core/rows.h"
#include "loops/items/each_piece.h"
#include "loops/moving/convert_run.h"
#include "operator/axes.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct EraseArgs {
  std::vector<float> anchor;
  std::optional<Vec<int64_t>> axes;
  std::optional<Layout> axis_names;
  bool centered_anchor = false;
  std::vector<float> fill_value = {0};
  bool normalized = false;
  std::optional<bool> normalized_anchor, normalized_shape;
  std::vector<float> shape;
};

Vec<int> erased_axes(const EraseArgs& args, const SampleView& in) {
  if (args.axis_names) return resolve_axes({}, args.axis_names, in.ndim(), in.layout);
  if (args.axes) return resolve_axes(args.axes, {}, in.ndim(), in.layout);
  const bool named = in.layout.find('H') >= 0 && in.layout.find('W') >= 0;
  if (named || (in.layout.empty() && in.ndim() > 3)) return resolve_axes({}, Layout("HW"), in.ndim(), in.layout);
  Vec<int64_t> first;  // images without a layout are HWC
  first.push_back(0);
  first.push_back(1);
  return resolve_axes(first, {}, in.ndim(), in.layout);
}

// The part of a region inside of the axis; nothing for NaN.
ErasedInterval interval(float start, float stop, int64_t extent) {
  const int64_t begin = std::clamp<int64_t>(truncate<int64_t>(start), 0, extent);
  if (std::isnan(start) || std::isnan(stop)) return {begin, begin};
  return {begin, std::clamp<int64_t>(truncate<int64_t>(stop), 0, extent)};
}

// Rows of `length` elements, which run along the erased axis number `along`.
template <class T>
void erase_rows(const typename Erase<T>::Params& params, int64_t length, int along, int64_t begin, int64_t end) {
  store_row(params.out + begin * length, params.in + begin * length,
            (end - begin) * length * static_cast<int64_t>(sizeof(T)));
  if (params.region_count == 0) return;
  const bool one_fill_in_row = params.fill_count == 1 || params.channel_step >= length;
  const bool rows_differ = params.fill_count > 1 && one_fill_in_row;
  std::vector<T> filled(static_cast<size_t>(length), params.fill(begin * length));
  for (int64_t i = 0; i < length && !one_fill_in_row; i++) filled[i] = params.fill(i);
  for (int64_t row = begin; row < end; row++) {
    const int64_t first = row * length;
    int64_t position[kMaxDim];
    for (int d = 0; d < params.axes; d++) position[d] = params.index(d, first);
    if (rows_differ) std::ranges::fill(filled, params.fill(first));
    for (int64_t k = 0; k < params.region_count; k++) {
      const ErasedInterval* region = params.regions + k * params.axes;
      bool inside = region[along].begin < region[along].end;
      for (int d = 0; d < params.axes; d++) inside &= d == along || region[d].holds(position[d]);
      if (!inside) continue;
      const int64_t from = region[along].begin * params.axis[along].step,
                    to = region[along].end * params.axis[along].step;
      std::memcpy(params.out + first + from, filled.data() + from, static_cast<size_t>(to - from) * sizeof(T));
    }
  }
}

class ErasePlan {
 public:
  explicit ErasePlan(const Sample<EraseArgs>& sample)
      : in_(sample.in[0]), args_(sample.args), axes_(erased_axes(args_, in_)) {
    const int64_t numbers = std::ssize(args_.anchor), fills = std::ssize(args_.fill_value);
    if (numbers != std::ssize(args_.shape))
      refuse("expected as many numbers in \"anchor\" as in \"shape\", got ", numbers, " and ", args_.shape.size());
    if (axes_.empty() ? numbers != 0 : numbers % axes_.size() != 0)
      refuse("expected ", axes_.size(), " numbers for each region in \"anchor\", got ", numbers);
    for (int k = 0; k < axes_.size(); k++)
      if (axes_[k] > axes_[along_]) along_ = k;
    for (int d = axes_.empty() ? 0 : axes_[along_]; d < in_.ndim(); d++) row_length_ *= in_.shape[d];
    const int64_t channels = channel_axis_ < 0 ? 1 : in_.shape[channel_axis_];
    if (fills != 1 && fills != channels) refuse("expected one number or ", channels, " in \"fill_value\", got ", fills);

    const bool anchor_is_share = args_.normalized || args_.normalized_anchor.value_or(false);
    const bool shape_is_share = args_.normalized || args_.normalized_shape.value_or(false);
    for (int64_t i = 0; i < numbers; i++) {
      const int64_t extent = in_.shape[axes_[static_cast<int>(i % axes_.size())]];
      const float size = args_.shape[i] * (shape_is_share ? static_cast<float>(extent) : 1.0f);
      float start = args_.anchor[i] * (anchor_is_share ? static_cast<float>(extent) : 1.0f);
      if (args_.centered_anchor) start -= size / 2;
      regions_.push_back(interval(start, start + size, extent));
    }
  }

  Shape shape() const { return in_.shape; }
  int64_t rows() const { return row_length_ == 0 ? 0 : in_.elements() / row_length_; }
  void run(const Sample<EraseArgs>& sample) const {
    with_size_of(in_.dtype, [&](auto type) { erase<typename decltype(type)::type>(sample); });
  }

 private:
  template <class T>
  void erase(const Sample<EraseArgs>& sample) const {
    std::vector<T> fills(args_.fill_value.size());
    truncating_run(in_.dtype, DType::float32)(fills.data(), args_.fill_value.data(), std::ssize(fills));
    const Shape strides = dense_strides(in_.shape);
    typename Erase<T>::Params params{.out = sample.out[0].template as<T>(),
                                     .in = in_.as<T>(),
                                     .axes = axes_.size(),
                                     .regions = readable(sample, regions_),
                                     .region_count = axes_.empty() ? 0 : std::ssize(regions_) / axes_.size(),
                                     .fills = readable(sample, fills),
                                     .fill_count = std::ssize(fills),
                                     .channel_step = channel_axis_ < 0 ? 1 : strides[channel_axis_]};
    for (int k = 0; k < axes_.size(); k++) {
      const int64_t extent = in_.shape[axes_[k]], step = strides[axes_[k]];
      params.axis[k] = {extent, step, Divisor::of(extent), Divisor::of(step)};
    }
    each_piece<Erase<T>, sizeof(T)>(sample, sample.begin * row_length_, sample.end * row_length_, params,
                                    [&] { erase_rows<T>(params, row_length_, along_, sample.begin, sample.end); });
  }

  const SampleView& in_;
  const EraseArgs& args_;
  const Vec<int> axes_;
  const int channel_axis_ = in_.layout.empty() ? in_.ndim() - 1 : in_.layout.find('C');
  int along_ = 0;                        // which of axes_ comes last in memory
  int64_t row_length_ = 1;               // along it and all axes after it
  std::vector<ErasedInterval> regions_;  // for each region, one for each of axes_
};

}  // namespace

AVIDA_OP(erase, EraseArgs) {
  using Args = EraseArgs;
  op.doc("Fills regions of the input with a value.")
      .input("input", "The samples to erase regions of.")
      .arg("anchor", &Args::anchor, "The start of each region: a number for each axis, one region after the other.")
      .arg("axes", &Args::axes, "The axes of `anchor` and `shape`, by index.", fixed)
      .arg("axis_names", &Args::axis_names,
           "The axes of `anchor` and `shape`, by letter; by default HW, or the first two if the layout does not name "
           "them.")
      .arg("centered_anchor", &Args::centered_anchor,
           "Whether `anchor` is the centre of a region instead of its start.", fixed)
      .arg("fill_value", &Args::fill_value, "The number to fill with, or one for each channel.", takes_nan)
      .arg("normalized", &Args::normalized, "Whether `anchor` and `shape` are fractions of the input's extents.", fixed)
      .arg("normalized_anchor", &Args::normalized_anchor, "Whether `anchor` is a fraction of the input's extents.",
           fixed)
      .arg("normalized_shape", &Args::normalized_shape, "Whether `shape` is a fraction of the input's extents.", fixed)
      .arg("shape", &Args::shape, "The extents of each region, as many numbers as in `anchor`.")
      .per_frame()
      .example("avida.erase(image, anchor=[1, 2], shape=[2, 3], fill_value=255)")
      .infer([](Infer<Args>& call) {
        if (call.args.normalized && (call.args.normalized_anchor || call.args.normalized_shape))
          refuse("expected \"normalized\", or \"normalized_anchor\" and \"normalized_shape\", got both");
      })
      .each_sample<ErasePlan>();
}

}  // namespace avida::ops
