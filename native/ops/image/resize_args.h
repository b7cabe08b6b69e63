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

constexpr const char* kAntialiasText = "Average over what one output element stands for when making smaller.";
constexpr const char* kResizeDTypeText = "The element type of the output: the input's (the default) or a floating one.";
constexpr const char* kInterpTypeText =
    "The filter: 0 nearest, 1 linear, 2 cubic, 3 Lanczos of radius 3, 4 triangular, 5 Gaussian.";
constexpr const char* kMagFilterText = "The filter for making larger, by default interp_type.";
constexpr const char* kMinFilterText = "The filter for making smaller, by default interp_type.";
constexpr const char* kMaxSizeText = "The largest permitted extents: one number, or one for each axis; 0 is no limit.";
constexpr const char* kMinibatchText = "Without effect: batches are not cut.";
constexpr const char* kModeText =
    "What the sizes mean: \"default\" (axes without a size are scaled like the others), \"stretch\" (they keep their "
    "size), or, with the proportions kept, \"not_larger\" and \"not_smaller\" than the sizes.";
constexpr const char* kResizeLongerText = "The size of the longest axis; proportions are kept.";
constexpr const char* kResizeShorterText = "The size of the shortest axis; proportions are kept.";
constexpr const char* kResizeXText = "The width; negative to mirror. Without the others, proportions are kept.";
constexpr const char* kResizeYText = "The height; negative to mirror. Without the others, proportions are kept.";
constexpr const char* kResizeZText = "The depth of a volume; negative to mirror.";
constexpr const char* kRoiEndText = "Where the region that is resized ends, one number for each axis.";
constexpr const char* kRoiRelativeText = "The region is given in fractions of the input's extents.";
constexpr const char* kRoiStartText =
    "Where the region that is resized starts, one number for each axis; beyond its end to mirror it.";
constexpr const char* kResizeSizeText = "The size of each axis; 0 for none, negative to mirror.";
constexpr const char* kSubpixelScaleText =
    "Where a size is rounded, widen or narrow the region so that the scale stays exact.";
constexpr const char* kTempBufferText = "Without effect.";

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

// The axes D, H and W of an image or volume, planned.
std::vector<AxisPlan> plan_image(const SampleView& in, const ImageSizeArgs& args);

Shape resized_shape(const Shape& in, const std::vector<AxisPlan>& plans);
Resample make_resample(const SampleView& in, DType out_type, const std::vector<AxisPlan>& plans,
                       const FilterArgs& args);

// The operator resamples its input as plan(sample) says.
template <auto plan, class Args>
Op<Args>& resamples(Op<Args>& op) {
  static constexpr auto resample = [](const Sample<Args>& sample) {
    return make_resample(sample.in[0], sample.out[0].dtype, plan(sample), sample.args);
  };
  return op
      .each_sample([](Sample<Args>& sample) { sample.out[0].shape = resized_shape(sample.in[0].shape, plan(sample)); },
                   [](const Sample<Args>& sample) {
                     resample(sample).run(sample.out[0].data, sample.in[0].data, sample.begin, sample.end);
                   })
      .rows([](const Sample<Args>& sample) { return resample(sample).rows(); })
      .cost(4)
      .chains();
}

}  // namespace avida
