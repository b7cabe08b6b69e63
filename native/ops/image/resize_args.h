// Arguments of the resizing operators, and the sizes and regions that follow from them.
#pragma once
#include "loops/resampling/resample.h"
#include "operator/declare.h"

namespace avida {

AVIDA_CHOICES_WITH(ResampleFilter, kInterpType, "nn", "linear", "cubic", "lanczos3", "triangular", "gaussian",
                   {"nearest", ResampleFilter::nearest}, {"bilinear", ResampleFilter::linear},
                   {"bicubic", ResampleFilter::cubic}, {"lanczos", ResampleFilter::lanczos3})

enum class SizeMode { each_scaled, each, not_larger, not_smaller };
AVIDA_CHOICES(SizeMode, "default", "stretch", "not_larger", "not_smaller")

struct FilterArgs {
  bool antialias = true;
  DType dtype = DType::none;
  ResampleFilter interp_type = ResampleFilter::linear;
  std::optional<ResampleFilter> mag_filter, min_filter;
  bool inside_only = false;  // see ResampleAxis; an argument of resize
};

struct RegionArgs {
  std::optional<Vec<float>> roi_start, roi_end;
  bool roi_relative = false;
  std::optional<std::vector<float>> max_size;
  std::optional<SizeMode> mode;
  bool subpixel_scale = true;
};

struct ImageSizeArgs : FilterArgs, RegionArgs {
  std::optional<float> resize_longer, resize_shorter, resize_x, resize_y, resize_z;
  std::optional<Vec<float>> size;
};

template <class Args>
Op<Args>& filter_args(Op<Args>& op) {
  return op.arg("antialias", &Args::antialias, "Whether to apply an antialiasing filter when downscaling.", fixed)
      .arg("dtype", &Args::dtype,
           "The element type of the output: that of the input (the default) or a floating-point type.")
      .arg("interp_type", &Args::interp_type,
           "The filter: 0 nearest, 1 linear, 2 cubic, 3 Lanczos of radius 3, 4 triangular, 5 Gaussian.")
      .arg("mag_filter", &Args::mag_filter, "The filter for upscaling, by default `interp_type`.")
      .arg("min_filter", &Args::min_filter, "The filter for downscaling, by default `interp_type`.")
      .ignored("minibatch_size", 32)
      .ignored("temp_buffer_hint", 0);
}

constexpr const char* kSizesText =
    "The size of each axis. A size of 0 counts as not given; a negative one mirrors the axis.";

template <class Args>
Op<Args>& region_args(Op<Args>& op) {
  return op
      .arg("max_size", &Args::max_size,
           "The largest permitted extents: one number, or one for each axis. 0 means no limit.", fixed)
      .arg("mode", &Args::mode,
           "What the sizes mean: \"default\" (axes without a size are scaled like the others), \"stretch\" (they keep "
           "their size), or, with the aspect ratio kept, \"not_larger\" and \"not_smaller\" than the sizes.")
      .arg("roi_end", &Args::roi_end, "The end of the region that is resized, one number for each axis.")
      .arg("roi_relative", &Args::roi_relative, "Whether the region is given in fractions of the extents of the input.",
           fixed)
      .arg("roi_start", &Args::roi_start,
           "The start of the region that is resized, one number for each axis. A start after the end mirrors the axis.")
      .arg("subpixel_scale", &Args::subpixel_scale,
           "Whether to adjust the region where a size is rounded, so that the scale stays exact.", fixed);
}

template <class Args>
Op<Args>& image_size_args(Op<Args>& op) {
  filter_args(op);
  return region_args(op)
      .arg("resize_longer", &Args::resize_longer, "The size of the longest axis. The aspect ratio is kept.")
      .arg("resize_shorter", &Args::resize_shorter, "The size of the shortest axis. The aspect ratio is kept.")
      .arg("resize_x", &Args::resize_x,
           "The width; a negative one mirrors the image. Without other sizes, the aspect ratio is kept.")
      .arg("resize_y", &Args::resize_y,
           "The height; a negative one mirrors the image. Without other sizes, the aspect ratio is kept.")
      .arg("resize_z", &Args::resize_z, "The depth of a volume; a negative one mirrors it.")
      .arg("size", &Args::size, kSizesText);
}

// One axis while its size is found.
struct AxisPlan {
  int axis;  // of the sample
  int64_t in;
  float start, end;  // the region, then adjusted to the output's size
  float wanted = 0;  // 0: not given; negative: mirrored
  float most = 0;    // 0: no limit
  float alignment = 0.5f;
  int64_t out = 0;
};

enum class SizeRounding { round, truncate, ceil };
AVIDA_CHOICES(SizeRounding, "round", "truncate", "ceil")

// Checks dtype and region, and sets the output's element type.
void infer_resize(const FilterArgs& args, const RegionArgs& region, const Inference& call);
// Checks that the size is given in exactly one way.
void check_image_size(const ImageSizeArgs& args, const Inference& call);

// One number for each of n axes, from a list of n or a single number.
template <class List>
float number_for(const List& list, int i, int n, const char* name) {
  if (static_cast<int>(list.size()) != n && list.size() != 1)
    refuse("expected one number or ", n, " in \"", name, "\", got ", list.size());
  return list[list.size() == 1 ? 0 : i];
}

// Sets the regions from the arguments.
void set_regions(std::vector<AxisPlan>& plans, const RegionArgs& args);
// Sets `out`, and adjusts the regions, from `wanted` and `most`.
void plan_sizes(std::vector<AxisPlan>& plans, const RegionArgs& args, SizeRounding rounding = SizeRounding::round);
void plan_sizes(std::vector<AxisPlan>& plans, const RegionArgs& args, SizeRounding rounding, SizeMode mode);

// The axes D, H and W of an image or volume, planned.
std::vector<AxisPlan> plan_image(const SampleView& in, const ImageSizeArgs& args);

Shape resized_shape(const Shape& in, const std::vector<AxisPlan>& plans);
// The rows and columns of the input that are read.
Part read_part(const SampleView& in, const std::vector<AxisPlan>& plans, const FilterArgs& args);
Resample make_resample(const SampleView& in, DType out_type, const std::vector<AxisPlan>& plans,
                       const FilterArgs& args);

// The input resampled along the axes that find(sample) returns.
template <auto find, class Args>
class ResamplePlan {
 public:
  explicit ResamplePlan(const Sample<Args>& sample)
      : in_(sample.in[0]),
        args_(sample.args),
        axes_(find(sample)),
        resample_(make_resample(in_, sample.out[0].dtype, axes_, args_)) {}

  Shape shape() const { return resized_shape(in_.shape, axes_); }
  int64_t rows() const { return resample_.rows(); }
  Part reads() const { return read_part(in_, axes_, args_); }
  void run(const Sample<Args>& sample) const { resample_.run(sample, sample.out[0].data, in_.data); }

 protected:
  const SampleView& in_;
  const FilterArgs& args_;
  const std::vector<AxisPlan> axes_;
  const Resample resample_;
};

template <class Plan, class Args>
Op<Args>& resamples(Op<Args>& op) {
  return op.template each_sample<Plan>().cost(4).chains();
}

}  // namespace avida
