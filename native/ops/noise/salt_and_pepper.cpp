// `noise.salt_and_pepper`, `augment.pixel_dropout`.
#include "ops/noise/salt_and_pepper.h"

#include <cmath>
#include <cstring>

#include "core/clones.h"
#include "ops/noise/noise.h"

namespace avida::ops {
namespace {

struct SaltAndPepperArgs {
  std::optional<float> pepper_val;
  bool per_channel = false;
  float prob = 0.05f;
  std::optional<float> salt_val;
  float salt_vs_pepper = 0.5f;
};

struct PixelDropoutArgs {
  float fill_value = 0;
  bool per_channel = false;
  float prob = 0.01f;
};

AVIDA_CLONES void draw_grains(int* out, const RandomKey& key, int64_t first, int64_t n, const Grains& grains) {
  draw_run(out, key, first, n, grains);
}

// Makes the pixels [first, first + n).
template <class T>
void make_pixels(const typename SaltAndPepper<T>::Params& params, int64_t first, int64_t n, const int* grains) {
  const GrainPixels& pixels = params.pixels;
  while (n > 0) {
    const int64_t at = pixels.plane == 1 ? 0 : first % pixels.plane;
    const int64_t run = pixels.plane == 1 ? n : std::min(n, pixels.plane - at);
    // Neighbours in memory are the channels of a pixel, or the pixels of a channel.
    const int64_t lines = pixels.plane == 1 ? 1 : pixels.channels, step = pixels.plane == 1 ? pixels.channels : 1;
    for (int64_t line = 0; line < lines; line++) {
      const int64_t start = (first - at) * pixels.channels + line * pixels.plane + at;
      std::memcpy(params.out + start, params.in + start, static_cast<size_t>(run * step) * sizeof(T));
      for (int64_t i = 0; i < run; i++)
        if (grains[i] != Grains::none)
          std::fill_n(params.out + start + i * step, step,
                      grains[i] == Grains::salt ? params.salt_value : params.pepper_value);
    }
    first += run;
    grains += run;
    n -= run;
  }
}

template <class T>
T value_or(const std::optional<float>& value, T otherwise) {
  return value ? truncate<T>(*value) : otherwise;
}

void check_share(const char* name, float share) {
  if (!(share >= 0 && share <= 1)) refuse("expected \"", name, "\" from 0 to 1, got ", share);
}

Grains grains_of(const SaltAndPepperArgs& args) {
  check_share("prob", args.prob);
  check_share("salt_vs_pepper", args.salt_vs_pepper);
  const double prob = args.prob, pepper_share = 1 - static_cast<double>(args.salt_vs_pepper);
  return {static_cast<uint64_t>(std::llround(prob * pepper_share * 0x1p32)),
          static_cast<uint64_t>(std::llround(prob * 0x1p32))};
}
Grains grains_of(const PixelDropoutArgs& args) {
  check_share("prob", args.prob);
  return {0, static_cast<uint64_t>(std::llround(static_cast<double>(args.prob) * 0x1p32))};
}

// The numbers that salt and pepper are made of.
template <class T>
std::pair<T, T> values_of(const SaltAndPepperArgs& args) {
  constexpr bool real = TypeTraits<T>::is_float;
  return {value_or(args.salt_val, real ? T(1) : TypeTraits<T>::highest()),
          value_or(args.pepper_val, real ? T(-1) : TypeTraits<T>::lowest())};
}
template <class T>
std::pair<T, T> values_of(const PixelDropoutArgs& args) {
  return {convert<T>(args.fill_value), T()};
}

template <class Args>
class GrainsPlan {
 public:
  explicit GrainsPlan(const Sample<Args>& sample)
      : in_(sample.in[0]), args_(sample.args), grains_(grains_of(sample.args)) {
    const int axis = in_.layout.empty() ? in_.ndim() - 1 : in_.layout.find('C');
    if (axis >= 0 && !args_.per_channel) pixels_.channels = in_.shape[axis];
    if (pixels_.channels != 1)
      for (int d = axis + 1; d < in_.ndim(); d++) pixels_.plane *= in_.shape[d];
    if (pixels_.channels != 0) pixels_.count = in_.elements() / pixels_.channels;
  }

  Shape shape() const { return in_.shape; }
  int64_t rows() const { return draw_rows(pixels_.count); }

  void run(const Sample<Args>& sample) const {
    with_noisy_type(in_.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const auto [salt_value, pepper_value] = values_of<T>(args_);
      const typename SaltAndPepper<T>::Params params{
          sample.out[0].template as<T>(), in_.as<T>(), pixels_, sample.random, grains_, pepper_value, salt_value};
      each_block<SaltAndPepper<T>, 4>(sample, pixels_.count, params, [&] {
        alignas(64) int drawn[kDrawRow];
        for (int64_t row = sample.begin; row < sample.end; row++) {
          const int64_t first = row * kDrawRow, n = std::min(kDrawRow, pixels_.count - first);
          draw_grains(drawn, sample.random, first, n, grains_);
          make_pixels<T>(params, first, n, drawn);
        }
      });
    });
  }

 private:
  const SampleView& in_;
  const Args& args_;
  const Grains grains_;
  GrainPixels pixels_{.count = 0, .channels = 1, .plane = 1};
};

}  // namespace

AVIDA_OP_IN(noise, salt_and_pepper, SaltAndPepperArgs) {
  using Args = SaltAndPepperArgs;
  op.doc("Makes random pixels white (salt) or black (pepper).")
      .input("input", "The samples to add noise to. Without a layout, the last axis has the channels.")
      .arg("pepper_val", &Args::pepper_val,
           "The value of black. Default: the lowest of an integer type, -1 for floats.", takes_nan)
      .arg("per_channel", &Args::per_channel, "Whether channels are drawn independently, instead of whole pixels.",
           fixed)
      .arg("prob", &Args::prob, "The probability that a pixel changes.")
      .arg("salt_val", &Args::salt_val, "The value of white. Default: the highest of an integer type, 1 for floats.",
           takes_nan)
      .arg("salt_vs_pepper", &Args::salt_vs_pepper, "The probability that a changed pixel becomes white.")
      .per_frame()
      .example("avida.noise.salt_and_pepper(image, prob=0.1)")
      .random()
      .infer(infer_noisy)
      .each_sample<GrainsPlan<SaltAndPepperArgs>>()
      .cost(2);
}

AVIDA_OP_IN(augment, pixel_dropout, PixelDropoutArgs) {
  using Args = PixelDropoutArgs;
  op.doc("Fills random pixels with a number.")
      .input("input", "Images or videos.", {"HW", "HWC", "CHW", "FHWC", "FCHW"})
      .arg("fill_value", &Args::fill_value, "What they are filled with.", takes_nan)
      .arg("per_channel", &Args::per_channel, "Whether each channel of a pixel is drawn for itself.")
      .arg("prob", &Args::prob, "The share of the pixels.")
      .per_frame()
      .example("avida.augment.pixel_dropout(image, prob=0.1)")
      .random()
      .infer(infer_noisy)
      .each_sample<GrainsPlan<Args>>()
      .cost(3);
}

}  // namespace avida::ops
