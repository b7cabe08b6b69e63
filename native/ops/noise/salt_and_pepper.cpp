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

AVIDA_CLONES void draw_grains(int* out, const RandomKey& key, int64_t first, int64_t n, const Grains& grains) {
  draw_run(out, key, first, n, grains);
}

GrainPixels grain_pixels(const SampleView& in, bool per_channel) {
  const int axis = in.layout.empty() ? in.ndim() - 1 : in.layout.find('C');
  GrainPixels pixels{.count = 0, .channels = axis < 0 || per_channel ? 1 : in.shape[axis], .plane = 1};
  if (pixels.channels != 1)
    for (int d = axis + 1; d < in.ndim(); d++) pixels.plane *= in.shape[d];
  if (pixels.channels != 0) pixels.count = in.elements() / pixels.channels;
  return pixels;
}

// Makes the pixels [first, first + n).
template <class T>
void make_pixels(const typename SaltAndPepper<T>::Params& params, int64_t first, int64_t n, const int* grains) {
  const GrainPixels& pixels = params.pixels;
  while (n > 0) {
    const int64_t at = pixels.plane == 1 ? 0 : first % pixels.plane;
    const int64_t run = pixels.plane == 1 ? n : std::min(n, pixels.plane - at);
    // Side by side lie the channels of all pixels, or the pixels of one channel.
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

void run(const Sample<SaltAndPepperArgs>& sample) {
  const SaltAndPepperArgs& args = sample.args;
  const GrainPixels pixels = grain_pixels(sample.in[0], args.per_channel);
  const double prob = args.prob, pepper_share = 1 - static_cast<double>(args.salt_vs_pepper);
  const Grains grains{static_cast<uint64_t>(std::llround(prob * pepper_share * 0x1p32)),
                      static_cast<uint64_t>(std::llround(prob * 0x1p32))};
  with_noisy_type(sample.in[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr bool real = TypeTraits<T>::is_float;
    const T pepper_value = value_or(args.pepper_val, real ? T(-1) : TypeTraits<T>::lowest());
    const T salt_value = value_or(args.salt_val, real ? T(1) : TypeTraits<T>::highest());
    const typename SaltAndPepper<T>::Params params{
        sample.out[0].as<T>(), sample.in[0].as<T>(), pixels, sample.random, grains, pepper_value, salt_value};
    each_block<SaltAndPepper<T>, 4>(sample, pixels.count, params, [&] {
      alignas(64) int drawn[kDrawRow];
      for (int64_t row = sample.begin; row < sample.end; row++) {
        const int64_t first = row * kDrawRow, n = std::min(kDrawRow, pixels.count - first);
        draw_grains(drawn, sample.random, first, n, grains);
        make_pixels<T>(params, first, n, drawn);
      }
    });
  });
}

void check_share(const char* name, float share) {
  if (!(share >= 0 && share <= 1)) fail(ErrorKind::runtime, "expected \"", name, "\" from 0 to 1, got ", share);
}

}  // namespace

AVIDA_OP_IN(noise, salt_and_pepper, SaltAndPepperArgs) {
  using Args = SaltAndPepperArgs;
  op.doc("Makes some pixels, chosen at random, all white or all black.")
      .input("input", "The samples to make noisy. Without a layout, the last axis has the channels.")
      .arg("pepper_val", &Args::pepper_val, "The black. Default: the lowest of an integer type, -1 for floats.",
           takes_nan)
      .arg("per_channel", &Args::per_channel, "Choose for each channel by itself, not for whole pixels.", fixed)
      .arg("prob", &Args::prob, "How likely it is that a pixel is chosen.")
      .arg("salt_val", &Args::salt_val, "The white. Default: the highest of an integer type, 1 for floats.", takes_nan)
      .arg("salt_vs_pepper", &Args::salt_vs_pepper, "How likely a chosen pixel is to be white.")
      .per_frame()
      .example("avida.noise.salt_and_pepper(image, prob=0.1)")
      .random()
      .infer(infer_noisy)
      .each_sample(
          [](Sample<Args>& sample) {
            check_share("prob", sample.args.prob);
            check_share("salt_vs_pepper", sample.args.salt_vs_pepper);
            sample.out[0].shape = sample.in[0].shape;
          },
          run)
      .rows([](const Sample<Args>& sample) {
        return draw_rows(grain_pixels(sample.in[0], sample.args.per_channel).count);
      })
      .on_gpu()
      .cost(2);
}

}  // namespace avida::ops
