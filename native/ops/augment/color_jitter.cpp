// `augment.adjust_colors`, `augment.color_jitter`.
#include <memory>

#include "loops/items/each_item.h"
#include "loops/pixels/each_pixel.h"
#include "ops/augment/color_steps.h"
#include "ops/augment/colors.h"
#include "ops/augment/mean_gray.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // as in pixel_vectors.h: its loops are made at the end of this file

namespace avida::ops {
namespace {

struct AdjustArgs {
  float brightness = 1, contrast = 1, hue = 0;
  Vec<int> order;
  float saturation = 1;
};
struct JitterColorsArgs {
  Vec<float> brightness, contrast, hue, saturation;
};

AVIDA_CLONES int64_t sum_of_bytes(const uint8_t* grays, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += grays[i];
  return sum;
}
float mean_of(const std::vector<uint8_t>& grays) {
  return mean_of_grays<uint8_t>(sum_of_bytes(grays.data(), std::ssize(grays)), std::ssize(grays));
}
float mean_of(const std::vector<float>& grays) {
  int64_t sum = 0;
  for (float gray : grays) sum += exact_gray(gray);
  return mean_of_grays<float>(sum, std::ssize(grays));
}

// The steps of a sample, in their order; those that change nothing are left out.
class Steps : public ColorSteps {
 public:
  explicit Steps(DType dtype)
      : ColorSteps{.step = {}, .by = {}, .range = range_of_colors(dtype), .whole = !is_float(dtype), .mean_gray = {}} {}

  void append(ColorStep given, float by_given) {
    if (by_given == (given == ColorStep::hue ? 0 : 1)) return;
    step[count] = given;
    by[count++] = by_given;
  }
};

void check_factor(const char* name, float factor) {
  if (!(factor >= 0 && std::isfinite(factor))) refuse("expected a factor of at least 0 as ", name, ", got ", factor);
}
void check_turn(float turn) {
  if (!(turn >= -0.5f && turn <= 0.5f)) refuse("expected a hue from -0.5 to 0.5, got ", turn);
}

Steps steps_of(const Sample<AdjustArgs>& sample) {
  const AdjustArgs& args = sample.args;
  check_factor("brightness", args.brightness);
  check_factor("contrast", args.contrast);
  check_factor("saturation", args.saturation);
  check_turn(args.hue);
  const float by[] = {args.brightness, args.contrast, args.saturation, args.hue};
  Steps steps(sample.in[0].dtype);
  int seen = 0;
  for (int i = 0; i < 4; i++) {
    const int step = args.order.empty() ? i : i < args.order.size() ? args.order[i] : -1;
    if (step < 0 || step > 3 || args.order.size() > 4 || (seen & 1 << step))
      refuse("expected the numbers from 0 to 3 in any order as order");
    seen |= 1 << step;
    steps.append(static_cast<ColorStep>(step), by[step]);
  }
  return steps;
}

// What is drawn from: how far from the middle, or from the least to the largest.
float drawn(const char* name, const Vec<float>& range, float middle, RandomStream& random) {
  if (range.size() > 2) refuse("expected one number or two as ", name, ", got ", range.size());
  const float reach = range.empty() ? 0 : range[0], least = middle - reach;
  if (range.size() == 1 && reach < 0) refuse("expected one number of 0 or more, or two, as ", name, ", got ", reach);
  const float low = range.size() == 2 ? range[0] : middle == 1 && least < 0 ? 0 : least;
  const float high = range.size() == 2 ? range[1] : middle + reach;
  if (!(low <= high)) refuse("expected the least before the largest as ", name, ", got ", low, " and ", high);
  return low + (high - low) * (static_cast<float>(random.next() >> 8) * 0x1p-24f);
}

Steps steps_of(const Sample<JitterColorsArgs>& sample) {
  const JitterColorsArgs& args = sample.args;
  for (float turn : args.hue) check_turn(turn);  // whatever is drawn
  RandomStream random(sample.random);
  const float by[] = {drawn("brightness", args.brightness, 1, random), drawn("contrast", args.contrast, 1, random),
                      drawn("saturation", args.saturation, 1, random), drawn("hue", args.hue, 0, random)};
  for (int i = 0; i < 3; i++) check_factor("brightness, contrast or saturation", by[i]);
  check_turn(by[3]);
  int order[] = {0, 1, 2, 3};
  for (unsigned left = 4; left > 1; left--) std::swap(order[left - 1], order[random.below(left)]);
  Steps steps(sample.in[0].dtype);
  for (int step : order) steps.append(static_cast<ColorStep>(step), by[step]);
  return steps;
}

template <class Args>
class AdjustPlan {
 public:
  explicit AdjustPlan(const Sample<Args>& sample) : steps_(steps_of(sample)), grid_(pixel_grid(sample.in[0])) {
    if (grid_.channels != 1 && grid_.channels != 3)
      refuse("expected 3 channels (RGB) or 1 (gray), got ", grid_.channels);
    before_contrast_ = steps_;
    for (before_contrast_.count = 0; before_contrast_.count < steps_.count; before_contrast_.count++)
      if (steps_.step[before_contrast_.count] == ColorStep::contrast) break;
    has_contrast_ = before_contrast_.count < steps_.count && grid_.outer * grid_.inner > 0;
    frames_ = frames_of(sample.in[0]);
  }

  // A mean belongs to a frame.
  int64_t rows() const { return has_contrast_ ? frames_ : grid_.blocks(); }
  void run(const Sample<Args>& sample) const { grid_.channels == 3 ? run_on<3>(sample) : run_on<1>(sample); }

 private:
  template <int N>
  void run_on(const Sample<Args>& sample) const {
    if (!has_contrast_) return each_pixel<AdjustColors<N>>(sample, grid_, steps_);
    const bool bytes = sample.in[0].dtype == DType::uint8;
    if (sample.launches) return bytes ? launch<N, uint8_t>(sample) : launch<N, float>(sample);
    for (int64_t frame = sample.begin; frame < sample.end; frame++)
      bytes ? adjust_frame<N, uint8_t>(sample, frame) : adjust_frame<N, float>(sample, frame);
  }

  FrameWork work_of(const Sample<Args>& sample, int64_t frame) const {
    FrameWork work{{frame_of(sample.in[0], frame)}, {frame_of(sample.out[0], frame)}, 0, 0, sample.launches};
    work.end = pixel_grid(work.in[0]).blocks();
    return work;
  }

  template <int N, class T>
  void make_grays(FrameWork work, void* grays) const {
    work.out[0].data = grays;
    work.out[0].dtype = dtype_of<T>;
    each_pixel<AdjustedGray<N>>(work, pixel_grid(work.in[0]), before_contrast_);
  }

  template <int N, class T>
  void adjust_frame(const Sample<Args>& sample, int64_t frame) const {
    const FrameWork work = work_of(sample, frame);
    std::vector<T> grays(work.in[0].elements() / N);
    make_grays<N, T>(work, grays.data());
    const float mean = mean_of(grays);
    ColorSteps steps = steps_;
    steps.mean_gray = &mean;
    each_pixel<AdjustColors<N>>(work, pixel_grid(work.in[0]), steps);
  }

  template <int N, class T>
  void launch(const Sample<Args>& sample) const {
    Launches& launches = *sample.launches;
    const int64_t pixels = sample.in[0].elements() / N / frames_,
                  parts = (pixels + SumGrays<T>::kPart - 1) / SumGrays<T>::kPart;
    auto* sums = static_cast<long*>(launches.scratch(frames_ * parts * static_cast<int64_t>(sizeof(long))));
    auto* means = static_cast<float*>(launches.scratch(frames_ * static_cast<int64_t>(sizeof(float))));
    auto* grays = static_cast<T*>(launches.scratch(frames_ * pixels * static_cast<int64_t>(sizeof(T))));
    for (int64_t frame = 0; frame < frames_; frame++) make_grays<N, T>(work_of(sample, frame), grays + frame * pixels);
    launches.then();
    for (int64_t frame = 0; frame < frames_; frame++)
      launches.add<SumGrays<T>>(0, parts, {grays + frame * pixels, sums + frame * parts, pixels});
    launches.then();
    for (int64_t frame = 0; frame < frames_; frame++)
      launches.add<MeanOfSums<T>>(0, 1, {means + frame, sums + frame * parts, parts, pixels});
    launches.then();
    for (int64_t frame = 0; frame < frames_; frame++) {
      const FrameWork work = work_of(sample, frame);
      ColorSteps steps = steps_;
      steps.mean_gray = means + frame;
      each_pixel<AdjustColors<N>>(work, pixel_grid(work.in[0]), steps);
    }
  }

  const ColorSteps steps_;
  const PixelGrid grid_;
  ColorSteps before_contrast_;
  bool has_contrast_;
  int64_t frames_;
};

template <class Args>
void color_loop(Op<Args>& op) {
  op.input("input", "Images or videos of uint8, uint16 or floats, in RGB or gray.", {"HWC", "CHW", "FHWC", "FCHW"})
      .infer([](Infer<Args>& call) { check_colors(call.in[0].dtype); })
      .template each_sample<AdjustPlan<Args>>()
      .cost(4);
}

}  // namespace

AVIDA_OP_IN(augment, adjust_colors, AdjustArgs) {
  using Args = AdjustArgs;
  op.doc(
        "Changes brightness, contrast, saturation and hue, as torchvision does. Contrast is about the mean gray of the "
        "image, or of each frame; the hue is that of HSV. Integers lose their fraction in each step.")
      .arg("brightness", &Args::brightness, "The factor of all colours.")
      .arg("contrast", &Args::contrast, "The factor of the distances from the mean gray.")
      .arg("hue", &Args::hue, "By how much of a circle the hue is turned, from -0.5 to 0.5.")
      .arg("order", &Args::order,
           "What comes first: 0 is brightness, 1 contrast, 2 saturation, 3 hue; by default in this order.")
      .arg("saturation", &Args::saturation, "The factor of the distances from each pixel's gray: 0 makes it gray.")
      .example("avida.augment.adjust_colors(image, brightness=1.2, contrast=0.8, saturation=1.5, hue=0.1)");
  color_loop(op);
}

AVIDA_OP_IN(augment, color_jitter, JitterColorsArgs) {
  using Args = JitterColorsArgs;
  op.doc(
        "Changes brightness, contrast, saturation and hue at random, as torchvision. The order is random. All are "
        "drawn "
        "for each sample; adjust_colors does the same with given numbers.")
      .arg("brightness", &Args::brightness,
           "The factor is drawn from 1 - brightness to 1 + brightness, or between two numbers.")
      .arg("contrast", &Args::contrast, "The same for the contrast.")
      .arg("hue", &Args::hue,
           "The hue turns by -hue to hue of a circle, at most 0.5, or by a share between two numbers.")
      .arg("saturation", &Args::saturation, "The same as brightness for the saturation.")
      .example("avida.augment.color_jitter(image, brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1)")
      .random();
  color_loop(op);
}

}  // namespace avida::ops
