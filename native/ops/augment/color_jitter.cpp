// `augment.adjust_colors`, `augment.color_jitter`.
#include "core/rows.h"
#include "loops/items/each_item.h"
#include "loops/pixels/each_pixel.h"
#include "ops/augment/color_steps.h"
#include "ops/augment/colors.h"
#include "ops/augment/mean_gray.h"
#include "runtime/memory.h"

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
int64_t sum_of(const uint8_t* grays, int64_t n) { return sum_of_bytes(grays, n); }
int64_t sum_of(const float* grays, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += exact_gray(grays[i]);
  return sum;
}

// The steps of a sample, in their order; those that change nothing are left out.
class Steps : public ColorSteps {
 public:
  // Integers of white become floats of 1 for the hue, and these integers again, as the fraction is dropped.
  explicit Steps(DType dtype) : ColorSteps{.step = {}, .by = {}, .white = range_of_colors(dtype), .mean_gray = {}} {
    white_of_hue = is_float(dtype) ? 1 : (white + 0.999f) / white;
  }

  void append(ColorStep given, float by_given) {
    if (by_given == (given == ColorStep::hue ? 0 : 1)) return;
    const float whole_turn = by_given < 0 ? by_given + 1 : by_given;
    step[count] = given;
    by[count++] = given == ColorStep::hue ? 6 * whole_turn : by_given;
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

// Pixels of bytes. Steps that take each channel by itself come out of a table, if they come first.
template <int N, class Work>
void adjust_bytes(const Work& work, const PixelGrid& grid, const ColorSteps& steps) {
  using Body = AdjustColors<N, true>;
  ColorSteps first = steps, rest = steps;
  const auto mixes = [](ColorStep step) { return step == ColorStep::saturation || step == ColorStep::hue; };
  for (first.count = 0; first.count < steps.count && !mixes(steps.step[first.count]);) first.count++;
  rest.count = 0;
  for (int i = first.count; i < steps.count; i++) {
    rest.step[rest.count] = steps.step[i];
    rest.by[rest.count++] = steps.by[i];
  }
  if (work.launches || grid.planar() || first.count == 0 || !looks_up_fast())
    return each_pixel<Body>(work, grid, steps);
  uint8_t table[256];
  for (int i = 0; i < 256; i++)
    table[i] = store_channel<uint8_t>(AdjustColors<1, true>::run(Pixel<1>{{static_cast<float>(i)}}, first)[0]);
  auto *out = work.out[0].template as<uint8_t>(), *in = work.in[0].template as<uint8_t>();
  for (int64_t block = work.begin; block < work.end; block++) {
    const int64_t begin = block * kPixelBlock, n = std::min(kPixelBlock, grid.outer - begin);
    if (rest.count == 0) {
      look_up_bytes(out + N * begin, in + N * begin, N * n, table);
      continue;
    }
    uint8_t looked_up[N * kPixelBlock];
    {
      const PastCache in_cache(0);
      look_up_bytes(looked_up, in + N * begin, N * n, table);
    }
    byte_pixels<Body>(out + N * begin, looked_up, n, 0, rest);
  }
}

template <class Body, class Work>
void adjust_pixels(const Work& work, const PixelGrid& grid, const ColorSteps& steps) {
  if constexpr (Body::makes_whole)
    if (work.in[0].dtype == DType::uint8 && work.out[0].dtype == DType::uint8)
      return adjust_bytes<Body::in>(work, grid, steps);
  each_pixel<Body>(work, grid, steps);
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
    is_float(sample.in[0].dtype) ? run_on<N, false>(sample) : run_on<N, true>(sample);
  }

  template <int N, bool whole>
  void run_on(const Sample<Args>& sample) const {
    if (!has_contrast_) return adjust_pixels<AdjustColors<N, whole>>(sample, grid_, steps_);
    const bool bytes = whole && sample.in[0].dtype == DType::uint8;
    if (sample.launches) return bytes ? launch<N, whole, uint8_t>(sample) : launch<N, whole, float>(sample);
    for (int64_t frame = sample.begin; frame < sample.end; frame++)
      bytes ? adjust_frame<N, whole, uint8_t>(sample, frame) : adjust_frame<N, whole, float>(sample, frame);
  }

  FrameWork work_of(const Sample<Args>& sample, int64_t frame) const {
    FrameWork work{{frame_of(sample.in[0], frame)}, {frame_of(sample.out[0], frame)}, 0, 0, sample.launches};
    work.end = pixel_grid(work.in[0]).blocks();
    return work;
  }

  template <class T>
  static FrameWork to_memory(FrameWork work, T* made) {
    work.out[0].data = made;
    work.out[0].dtype = dtype_of<T>;
    return work;
  }

  // Keeps what comes before contrast, of which T holds every bit, for the steps that follow when the mean is known.
  template <int N, bool whole, class T>
  void adjust_frame(const Sample<Args>& sample, int64_t frame) const {
    FrameWork work = work_of(sample, frame);
    const int64_t elements = work.in[0].elements(), pixels = elements / N;
    const Block memory = allocate((before_contrast_.count ? elements + pixels : pixels) * int64_t{sizeof(T)});
    T *grays = static_cast<T*>(memory.get()), *kept = grays + pixels;
    ColorSteps steps = steps_;
    {
      const PastCache in_cache(0);
      if (before_contrast_.count) {
        adjust_pixels<AdjustColors<N, whole>>(to_memory(work, kept), pixel_grid(work.in[0]), before_contrast_);
        work.in[0].data = kept;
        work.in[0].dtype = dtype_of<T>;
      }
      steps.count = 0;
      each_pixel<AdjustedGray<N, whole>>(to_memory(work, grays), pixel_grid(work.in[0]), steps);
    }
    const float mean = mean_of_grays<T>(sum_of(grays, pixels), pixels);
    steps.mean_gray = &mean;
    for (int i = before_contrast_.count; i < steps_.count; i++) {
      steps.step[steps.count] = steps_.step[i];
      steps.by[steps.count++] = steps_.by[i];
    }
    adjust_pixels<AdjustColors<N, whole>>(work, pixel_grid(work.in[0]), steps);
  }

  template <int N, bool whole, class T>
  void launch(const Sample<Args>& sample) const {
    Launches& launches = *sample.launches;
    const int64_t pixels = sample.in[0].elements() / N / frames_,
                  parts = (pixels + SumGrays<T>::kPart - 1) / SumGrays<T>::kPart;
    auto* sums = static_cast<long*>(launches.scratch(frames_ * parts * static_cast<int64_t>(sizeof(long))));
    auto* means = static_cast<float*>(launches.scratch(frames_ * static_cast<int64_t>(sizeof(float))));
    auto* grays = static_cast<T*>(launches.scratch(frames_ * pixels * static_cast<int64_t>(sizeof(T))));
    for (int64_t frame = 0; frame < frames_; frame++) {
      const FrameWork work = to_memory(work_of(sample, frame), grays + frame * pixels);
      each_pixel<AdjustedGray<N, whole>>(work, pixel_grid(work.in[0]), before_contrast_);
    }
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
      each_pixel<AdjustColors<N, whole>>(work, pixel_grid(work.in[0]), steps);
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
