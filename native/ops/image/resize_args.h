// What the resizing operators have in common: their arguments, and the sizes and regions that follow from them.
#pragma once
#include <string>

#include "op/op.h"
#include "op/resample.h"

namespace avida {

struct FilterArgs {
  bool antialias = true;
  DType dtype = DType::none;
  int interp_type = 1;
  std::optional<int> mag_filter, min_filter;
  int minibatch_size = 32, temp_buffer_hint = 0;

  bool operator==(const FilterArgs&) const = default;
};

struct RegionArgs {
  std::optional<Vec<float>> roi_start, roi_end;
  bool roi_relative = false;
  std::optional<std::vector<float>> max_size;
  std::optional<std::string> mode;
  bool subpixel_scale = true;
};

struct ImageSizeArgs : FilterArgs, RegionArgs {
  std::optional<float> resize_longer, resize_shorter, resize_x, resize_y, resize_z;
  std::optional<Vec<float>> size;
};

// Whether images of one shape are resized alike.
bool same_size(const ImageSizeArgs& a, const ImageSizeArgs& b);

template <class Args>
Op<Args>& filter_args(Op<Args>& op) {
  return op
      .arg("antialias", &Args::antialias, "Average over what one output element stands for when making smaller.", fixed)
      .arg("dtype", &Args::dtype, "The element type of the output: the input's (the default) or a floating one.")
      .arg("interp_type", &Args::interp_type,
           "The filter: 0 nearest, 1 linear, 2 cubic, 3 Lanczos of radius 3, 4 triangular, 5 Gaussian.")
      .arg("mag_filter", &Args::mag_filter, "The filter for making larger, by default interp_type.")
      .arg("min_filter", &Args::min_filter, "The filter for making smaller, by default interp_type.")
      .arg("minibatch_size", &Args::minibatch_size, "Without effect: batches are not cut.", fixed)
      .arg("temp_buffer_hint", &Args::temp_buffer_hint, "Without effect.", fixed);
}

constexpr const char* kSizesText = "The size of each axis; 0 for none, negative to mirror.";

template <class Args>
Op<Args>& region_args(Op<Args>& op) {
  return op
      .arg("max_size", &Args::max_size,
           "The largest permitted extents: one number, or one for each axis; 0 is no limit.", fixed)
      .arg("mode", &Args::mode,
           "What the sizes mean: \"default\" (axes without a size are scaled like the others), \"stretch\" (they keep "
           "their size), or, with the proportions kept, \"not_larger\" and \"not_smaller\" than the sizes.")
      .arg("roi_end", &Args::roi_end, "Where the region that is resized ends, one number for each axis.")
      .arg("roi_relative", &Args::roi_relative, "The region is given in fractions of the input's extents.", fixed)
      .arg("roi_start", &Args::roi_start,
           "Where the region that is resized starts, one number for each axis; beyond its end to mirror it.")
      .arg("subpixel_scale", &Args::subpixel_scale,
           "Where a size is rounded, widen or narrow the region so that the scale stays exact.", fixed);
}

template <class Args>
Op<Args>& image_size_args(Op<Args>& op) {
  filter_args(op);
  return region_args(op)
      .arg("resize_longer", &Args::resize_longer, "The size of the longest axis; proportions are kept.")
      .arg("resize_shorter", &Args::resize_shorter, "The size of the shortest axis; proportions are kept.")
      .arg("resize_x", &Args::resize_x, "The width; negative to mirror. Without the others, proportions are kept.")
      .arg("resize_y", &Args::resize_y, "The height; negative to mirror. Without the others, proportions are kept.")
      .arg("resize_z", &Args::resize_z, "The depth of a volume; negative to mirror.")
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

// Checks dtype and mode, and sets the output's element type.
void infer_resize(const FilterArgs& args, const RegionArgs& region, const Inference& call);
// Checks that the size is given in exactly one way.
void check_image_size(const ImageSizeArgs& args, const Inference& call);

// One number for each of n axes, from a list of n or a single number.
template <class List>
float number_for(const List& list, int i, int n, const char* name) {
  if (static_cast<int>(list.size()) != n && list.size() != 1)
    fail(ErrorKind::runtime, "expected one number or ", n, " in \"", name, "\", got ", list.size());
  return list[list.size() == 1 ? 0 : i];
}

// Sets the regions from the arguments.
void set_regions(std::vector<AxisPlan>& plans, const RegionArgs& args);
// Sets `out`, and adjusts the regions, from `wanted` and `most`.
void plan_sizes(std::vector<AxisPlan>& plans, const RegionArgs& args, SizeRounding rounding = SizeRounding::round);
void plan_sizes(std::vector<AxisPlan>& plans, const RegionArgs& args, SizeRounding rounding, std::string_view mode);

// The axes D, H and W of an image or volume, planned.
std::vector<AxisPlan> plan_image(const SampleView& in, const ImageSizeArgs& args);

Shape resized_shape(const Shape& in, const std::vector<AxisPlan>& plans);
// The rows and columns of the input that are read.
Part read_part(const SampleView& in, const std::vector<AxisPlan>& plans, const FilterArgs& args);
Resample make_resample(const SampleView& in, DType out_type, const std::vector<AxisPlan>& plans,
                       const FilterArgs& args);

// The operator resamples its input as plan(sample) says.
template <auto plan, class Args>
Op<Args>& resamples(Op<Args>& op) {
  static constexpr auto resample = [](const Sample<Args>& sample) {
    return make_resample(sample.in[0], sample.out[0].dtype, plan(sample), sample.args);
  };
  return op
      .each_sample(
          [](Sample<Args>& sample) { sample.out[0].shape = resized_shape(sample.in[0].shape, plan(sample)); },
          [](const Sample<Args>& sample) { resample(sample).run(sample, sample.out[0].data, sample.in[0].data); })
      .rows([](const Sample<Args>& sample) { return sample.launches ? 1 : resample(sample).rows(); })
      .cost(4)
      .reads([](const Sample<Args>& sample) { return read_part(sample.in[0], plan(sample), sample.args); })
      .chains()
      .on_gpu();
}

}  // namespace avida
