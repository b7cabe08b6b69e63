#include "ops/image/resize_args.h"

#include <algorithm>
#include <cmath>

#include "loops/resampling/resample_taps.h"

namespace avida {
namespace {

float extent_of(const AxisPlan& plan) { return std::fabs(plan.end - plan.start); }

// The size of an axis, not rounded yet. All in float, so that 33.3 / 60 * 100 comes to 55.5.
float limited(float size, const AxisPlan& plan) { return plan.most > 0 ? std::min(size, plan.most) : size; }

// The geometric mean of the scales of the axes that have a size.
float mean_scale(const std::vector<AxisPlan>& plans) {
  double product = 1;
  int given = 0;
  for (const AxisPlan& plan : plans)
    if (plan.wanted != 0) {
      product *= std::fabs(plan.wanted) / extent_of(plan);
      given++;
    }
  return given ? static_cast<float>(std::pow(product, 1.0 / given)) : 1;
}

// Each axis by itself; those without a size keep it, or are scaled as the others are on average.
void size_each(std::vector<AxisPlan>& plans, bool scale_rest) {
  const bool all_given = std::ranges::all_of(plans, [](const AxisPlan& plan) { return plan.wanted != 0; });
  const float rest = scale_rest && !all_given ? mean_scale(plans) : 1;
  for (AxisPlan& plan : plans) {
    float size = limited(plan.wanted == 0 ? extent_of(plan) * rest : std::fabs(plan.wanted), plan);
    plan.wanted = std::copysign(size, plan.wanted);
  }
}

// All axes by one scale: the smallest or the largest that their sizes ask for.
void size_together(std::vector<AxisPlan>& plans, bool smallest) {
  float scale = 0;
  bool given = false;
  for (const AxisPlan& plan : plans) {
    if (plan.wanted == 0) continue;
    float own = std::fabs(plan.wanted) / extent_of(plan);
    scale = !given ? own : smallest ? std::min(scale, own) : std::max(scale, own);
    given = true;
  }
  if (!given) scale = 1;
  for (const AxisPlan& plan : plans)
    if (plan.most > 0) scale = std::min(scale, plan.most / extent_of(plan));
  for (AxisPlan& plan : plans) {
    if (std::fabs(plan.wanted) / extent_of(plan) == scale)
      continue;  // sized exactly: a product of a quotient may not be
    plan.wanted = std::copysign(extent_of(plan) * scale, plan.wanted);
  }
}

int64_t rounded(float size, SizeRounding rounding) {
  float whole = rounding == SizeRounding::round      ? std::round(size)
                : rounding == SizeRounding::truncate ? std::trunc(size)
                                                     : std::ceil(size);
  return std::max<int64_t>(1, static_cast<int64_t>(whole));
}

}  // namespace

void infer_resize(const FilterArgs& args, const RegionArgs& region, const Inference& call) {
  Meta& out = call.out[0];
  bool is_float = args.dtype == DType::float16 || args.dtype == DType::bfloat16 || args.dtype == DType::float32;
  if (args.dtype != DType::none && args.dtype != out.dtype && !is_float)
    refuse("expected the element type of the input, ", name_of(out.dtype), ", or a floating-point type as dtype, got ",
           name_of(args.dtype));
  if (args.dtype != DType::none) out.dtype = args.dtype;
  auto given = [&](const char* name, bool is_fixed) { return is_fixed || call.per_sample(name); };
  if (given("roi_start", region.roi_start.has_value()) != given("roi_end", region.roi_end.has_value()))
    refuse("expected \"roi_start\" and \"roi_end\" together");
}

void check_image_size(const ImageSizeArgs& args, const Inference& call) {
  auto given = [&](const char* name, bool is_fixed) { return is_fixed || call.per_sample(name); };
  bool longer = given("resize_longer", args.resize_longer.has_value());
  bool shorter = given("resize_shorter", args.resize_shorter.has_value());
  bool single = given("resize_x", args.resize_x.has_value()) || given("resize_y", args.resize_y.has_value()) ||
                given("resize_z", args.resize_z.has_value());
  if (longer + shorter + single + given("size", args.size.has_value()) != 1)
    refuse(
        "expected the size in one way: \"size\", or some of \"resize_x\", \"resize_y\" and \"resize_z\", or "
        "\"resize_shorter\", or \"resize_longer\"");
  if (args.mode && (longer || shorter))
    refuse("\"resize_shorter\" and \"resize_longer\" are modes of their own: \"mode\" does not apply");
}

void set_regions(std::vector<AxisPlan>& plans, const RegionArgs& args) {
  int n = static_cast<int>(plans.size());
  for (int i = 0; i < n; i++) {
    AxisPlan& plan = plans[i];
    plan.start = 0;
    plan.end = static_cast<float>(plan.in);
    if (args.max_size) plan.most = number_for(*args.max_size, i, n, "max_size");
    if (!args.roi_start) continue;
    float unit = args.roi_relative ? plan.end : 1;
    plan.start = number_for(*args.roi_start, i, n, "roi_start") * unit;
    plan.end = number_for(*args.roi_end, i, n, "roi_end") * unit;
  }
}

void plan_sizes(std::vector<AxisPlan>& plans, const RegionArgs& args, SizeRounding rounding) {
  plan_sizes(plans, args, rounding, args.mode.value_or(SizeMode::each_scaled));
}

void plan_sizes(std::vector<AxisPlan>& plans, const RegionArgs& args, SizeRounding rounding, SizeMode mode) {
  if (mode == SizeMode::each || mode == SizeMode::each_scaled)
    size_each(plans, mode == SizeMode::each_scaled);
  else
    size_together(plans, mode == SizeMode::not_larger);

  for (AxisPlan& plan : plans) {
    if (plan.in == 0) {
      plan.out = 0;
      continue;
    }
    float size = std::fabs(plan.wanted), extent = extent_of(plan);
    if (!(size < 0x1p31f))
      refuse("expected finite sizes below 2**31, got ", plan.wanted, " for a region from ", plan.start, " to ",
             plan.end);
    plan.out = rounded(size, rounding);
    if (plan.wanted < 0) std::swap(plan.start, plan.end);
    if (args.subpixel_scale && size > 0 && static_cast<float>(plan.out) != size) {
      float change = extent * static_cast<float>(plan.out) / size - extent;
      if (plan.end < plan.start) change = -change;
      plan.start -= change * plan.alignment;
      plan.end += change * (1 - plan.alignment);
    }
  }
}

std::vector<AxisPlan> plan_image(const SampleView& in, const ImageSizeArgs& args) {
  std::vector<AxisPlan> plans;
  plans.reserve(3);
  for (char name : {'D', 'H', 'W'})
    if (int axis = in.layout.find(name); axis >= 0) plans.push_back({.axis = axis, .in = in.shape[axis]});
  set_regions(plans, args);
  int n = static_cast<int>(plans.size());
  for (int i = 0; i < n; i++) {
    char name = in.layout[plans[i].axis];
    auto single = name == 'D' ? args.resize_z : name == 'H' ? args.resize_y : args.resize_x;
    plans[i].wanted = args.size             ? number_for(*args.size, i, n, "size")
                      : args.resize_shorter ? *args.resize_shorter
                      : args.resize_longer  ? *args.resize_longer
                                            : single.value_or(0);
  }
  if (args.resize_shorter || args.resize_longer)
    plan_sizes(plans, args, SizeRounding::round, args.resize_longer ? SizeMode::not_larger : SizeMode::not_smaller);
  else
    plan_sizes(plans, args);
  return plans;
}

Shape resized_shape(const Shape& in, const std::vector<AxisPlan>& plans) {
  Shape shape = in;
  for (const AxisPlan& plan : plans) shape[plan.axis] = plan.out;
  return shape;
}

static ResampleAxis make_axis(const AxisPlan& plan, const std::vector<AxisPlan>& plans, const FilterArgs& args) {
  const bool shrinks = extent_of(plan) > static_cast<float>(plan.out);
  const ResampleFilter filter = (shrinks ? args.min_filter : args.mag_filter).value_or(args.interp_type);
  bool last = std::ranges::none_of(plans, [&](auto& other) { return other.axis > plan.axis; });
  ResampleAxis axis{plan.in, plan.out, plan.start, plan.end, filter, args.antialias, !last, args.inside_only};
  check_resample_axis(axis);
  return axis;
}

Part read_part(const SampleView& in, const std::vector<AxisPlan>& plans, const FilterArgs& args) {
  Part part = whole_part(in);
  for (const AxisPlan& plan : plans) {
    if (plan.out == 0) continue;
    ResampleAxis axis = make_axis(plan, plans, args);
    ResampleWindow first = resample_window(axis, 0), last = resample_window(axis, axis.out - 1);
    // Outside of the borders, their elements are read; every window has the same size. Summed positions may be off by
    // one.
    int64_t count = std::min<int64_t>(first.count, plan.in), most = plan.in - count, slack = axis.summed;
    int64_t begin = std::clamp<int64_t>(std::min(first.first, last.first) - slack, 0, most);
    int64_t end = std::clamp<int64_t>(std::max(first.first, last.first) + slack, 0, most) + count;
    part.set(in.layout[plan.axis], begin, end);
  }
  return part;
}

Resample make_resample(const SampleView& in, DType out_type, const std::vector<AxisPlan>& plans,
                       const FilterArgs& args) {
  checked_volume(resized_shape(in.shape, plans));
  std::optional<ResampleAxis> axes[kMaxDim];
  for (const AxisPlan& plan : plans) axes[plan.axis] = make_axis(plan, plans, args);
  return Resample(in.shape, axes, in.dtype, out_type);
}

}  // namespace avida
