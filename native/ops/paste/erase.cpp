#include "ops/paste/erase.h"

#include <cstring>

#include "op/axes.h"
#include "op/convert_run.h"
#include "op/each_piece.h"
#include "op/op.h"

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

Vec<int> erased_axes(const EraseArgs& args, int ndim, const Layout& layout) {
  if (args.axis_names) return resolve_axes({}, args.axis_names, ndim, layout);
  return resolve_axes(args.axes, args.axes ? std::nullopt : std::optional<Layout>("HW"), ndim, layout);
}

// What lies inside of the axis; nothing where a number is not one.
ErasedInterval interval(float start, float stop, int64_t extent) {
  const int64_t begin = std::clamp<int64_t>(truncate<int64_t>(start), 0, extent);
  if (std::isnan(start) || std::isnan(stop)) return {begin, begin};
  return {begin, std::clamp<int64_t>(truncate<int64_t>(stop), 0, extent)};
}

// The input as rows, each along the last erased axis and all axes after it.
class Eraser {
 public:
  explicit Eraser(const Sample<EraseArgs>& sample)
      : in_(sample.in[0]), args_(sample.args), axes_(erased_axes(args_, in_.ndim(), in_.layout)) {
    if (args_.anchor.size() != args_.shape.size())
      fail(ErrorKind::runtime, "expected as many numbers in \"anchor\" as in \"shape\", got ", args_.anchor.size(),
           " and ", args_.shape.size());
    if (axes_.empty() ? !args_.anchor.empty() : args_.anchor.size() % axes_.size() != 0)
      fail(ErrorKind::runtime, "expected ", axes_.size(), " numbers for each region in \"anchor\", got ",
           args_.anchor.size());
    for (int axis : axes_) last_ = std::max(last_, axis);
    for (int d = last_; d < in_.ndim(); d++) row_length_ *= in_.shape[d];
    channel_axis_ = in_.layout.empty() ? in_.ndim() - 1 : in_.layout.find('C');
    const int64_t fills = std::ssize(args_.fill_value);
    const int64_t channels = channel_axis_ < 0 ? 1 : in_.shape[channel_axis_];
    if (fills != 1 && fills != channels)
      fail(ErrorKind::runtime, "expected one number or ", channels, " in \"fill_value\", got ", fills);
    place_regions();
  }

  int64_t rows() const { return row_length_ == 0 ? 0 : in_.elements() / row_length_; }

  template <class T>
  void run(const Sample<EraseArgs>& sample) const {
    const std::vector<T> fills = converted_fills<T>();
    T* out = sample.out[0].template as<T>();
    auto made = params(out, fills);
    made.regions = readable(sample.launches, made.regions, std::ssize(regions_));
    made.fills = readable(sample.launches, made.fills, std::ssize(fills));
    each_piece<Erase<T>, sizeof(T)>(sample, sample.begin * row_length_, sample.end * row_length_, made,
                                    [&] { make_rows(out, fills, sample.begin, sample.end); });
  }

 private:
  template <class T>
  typename Erase<T>::Params params(T* out, const std::vector<T>& fills) const {
    const Shape strides = dense_strides(in_.shape);
    typename Erase<T>::Params params{.out = out,
                                     .in = in_.as<T>(),
                                     .axes = axes_.size(),
                                     .regions = regions_.data(),
                                     .region_count = axes_.empty() ? 0 : std::ssize(regions_) / axes_.size(),
                                     .fills = fills.data(),
                                     .fill_count = std::ssize(fills),
                                     .channel_step = channel_axis_ < 0 ? 1 : strides[channel_axis_]};
    for (int k = 0; k < axes_.size(); k++) {
      params.extent[k] = in_.shape[axes_[k]];
      params.step[k] = strides[axes_[k]];
    }
    return params;
  }

  template <class T>
  void make_rows(T* out, const std::vector<T>& fills, int64_t begin, int64_t end) const {
    std::vector<T> filled(static_cast<size_t>(row_length_), fills[0]);
    const bool varies_in_row = fills.size() > 1 && channel_axis_ >= last_;
    if (varies_in_row) {
      int64_t step = 1;
      for (int d = channel_axis_ + 1; d < in_.ndim(); d++) step *= in_.shape[d];
      for (int64_t i = 0; i < row_length_; i++) filled[i] = fills[i / step % in_.shape[channel_axis_]];
    }
    std::memcpy(out + begin * row_length_, in_.as<T>() + begin * row_length_,
                static_cast<size_t>((end - begin) * row_length_) * sizeof(T));
    if (regions_.empty()) return;
    const int64_t step = last_ < in_.ndim() ? row_length_ / in_.shape[last_] : 1;
    for (int64_t row = begin; row < end; row++) {
      int64_t place[kMaxDim] = {};
      for (int64_t d = last_ - 1, rest = row; d >= 0; rest /= in_.shape[d--]) place[d] = rest % in_.shape[d];
      if (fills.size() > 1 && !varies_in_row) std::ranges::fill(filled, fills[place[channel_axis_]]);
      for (size_t first = 0; first < regions_.size(); first += axes_.size()) {
        bool inside = true;
        const ErasedInterval* along_row = nullptr;
        for (int k = 0; k < axes_.size(); k++) {
          const ErasedInterval& region = regions_[first + k];
          if (axes_[k] == last_)
            along_row = &region;
          else
            inside &= place[axes_[k]] >= region.begin && place[axes_[k]] < region.end;
        }
        if (!inside || along_row->end <= along_row->begin) continue;
        const int64_t from = along_row->begin * step;
        std::memcpy(out + row * row_length_ + from, filled.data() + from,
                    static_cast<size_t>(along_row->end * step - from) * sizeof(T));
      }
    }
  }

  void place_regions() {
    const bool anchor_is_share = args_.normalized || args_.normalized_anchor.value_or(false);
    const bool shape_is_share = args_.normalized || args_.normalized_shape.value_or(false);
    for (size_t i = 0; i < args_.anchor.size(); i++) {
      const int64_t extent = in_.shape[axes_[static_cast<int>(i % axes_.size())]];
      const float size = args_.shape[i] * (shape_is_share ? static_cast<float>(extent) : 1.0f);
      float start = args_.anchor[i] * (anchor_is_share ? static_cast<float>(extent) : 1.0f);
      if (args_.centered_anchor) start -= size / 2;
      regions_.push_back(interval(start, start + size, extent));
    }
  }

  template <class T>
  std::vector<T> converted_fills() const {
    std::vector<T> fills(args_.fill_value.size());
    truncating_run(in_.dtype, DType::float32)(fills.data(), args_.fill_value.data(), std::ssize(fills));
    return fills;
  }

  const SampleView& in_;
  const EraseArgs& args_;
  const Vec<int> axes_;
  int last_ = 0, channel_axis_ = -1;
  int64_t row_length_ = 1;
  std::vector<ErasedInterval> regions_;  // for each region, one for each axis
};

}  // namespace

AVIDA_OP(erase, EraseArgs) {
  using Args = EraseArgs;
  op.doc("Fills regions of the input with a value.")
      .input("input", "The samples to erase parts of.")
      .arg("anchor", &Args::anchor, "Where each region starts: a number for each axis, one region after the other.")
      .arg("axes", &Args::axes, "The axes that `anchor` and `shape` speak of.", fixed)
      .arg("axis_names", &Args::axis_names, "The same by their letters; by default HW.")
      .arg("centered_anchor", &Args::centered_anchor, "`anchor` is the middle of a region, not its start.", fixed)
      .arg("fill_value", &Args::fill_value, "What to fill with: one number, or one for each channel.", takes_nan)
      .arg("normalized", &Args::normalized, "`anchor` and `shape` are shares of the input's extents.", fixed)
      .arg("normalized_anchor", &Args::normalized_anchor, "`anchor` is.", fixed)
      .arg("normalized_shape", &Args::normalized_shape, "`shape` is.", fixed)
      .arg("shape", &Args::shape, "The extents of each region, as many numbers as in `anchor`.")
      .per_frame()
      .example("avida.erase(image, anchor=[1, 2], shape=[2, 3], fill_value=255)")
      .infer([](Infer<Args>& call) {
        if (call.args.normalized && (call.args.normalized_anchor || call.args.normalized_shape))
          fail(ErrorKind::runtime,
               "expected \"normalized\", or \"normalized_anchor\" and \"normalized_shape\", got both");
      })
      .each_sample(
          [](Sample<Args>& sample) {
            sample.out[0].shape = sample.in[0].shape;
            Eraser check(sample);
          },
          [](const Sample<Args>& sample) {
            with_size_of(sample.in[0].dtype, [&](auto type) {
              using T = typename decltype(type)::type;
              Eraser(sample).run<T>(sample);
            });
          })
      .rows([](const Sample<Args>& sample) { return Eraser(sample).rows(); })
      .on_gpu();
}

}  // namespace avida::ops
