// `augment.iso_noise`, `augment.multiplicative_noise`.
#include "ops/effects/grain.h"

#include <algorithm>
#include <cmath>

#include "core/clones.h"
#include "loops/items/each_item.h"
#include "ops/augment/colors.h"
#include "ops/noise/noise.h"

namespace avida::ops {
namespace {

struct MultiplyArgs {
  float high = 1.1f, low = 0.9f;
  bool per_channel = false, per_pixel = true;
};
struct IsoArgs {
  float color_shift = 0.03f, intensity = 0.1f;
};

// Calls fn(Type<T>()) with a type of colours.
template <class Fn>
void with_color_type(DType dtype, Fn&& fn) {
  with_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (same_type<T, uint8_t> || same_type<T, uint16_t> || (TypeTraits<T>::is_float && sizeof(T) < 8))
      fn(type);
  });
}

PixelPlaces places_of(const SampleView& in, bool each_channel) {
  PixelPlaces places{in.elements(), 1, 1};
  const int c = in.layout.find('C');
  if (c < 0 || each_channel) return places;
  places.channels = in.shape[c];
  for (int d = c + 1; d < in.ndim(); d++) places.plane *= in.shape[d];
  places.count = places.channels ? in.elements() / places.channels : 0;
  return places;
}

template <class T>
AVIDA_TEMPLATE_CLONES static void multiply(T* __restrict out, const T* __restrict in, int64_t n,
                                           const float* __restrict factor) {
  for (int64_t i = 0; i < n; i++) out[i] = store_channel<T>(static_cast<float>(in[i]) * factor[i]);
}
template <int channels>
AVIDA_TEMPLATE_CLONES static void repeat_each(const float* __restrict in, int64_t n, float* __restrict out) {
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < channels; c++) out[channels * i + c] = in[i];
}

class MultiplyPlan {
 public:
  explicit MultiplyPlan(const Sample<MultiplyArgs>& sample)
      : in_(sample.in[0]), pixels_(places_of(in_, sample.args.per_channel)) {
    const auto& [high, low, per_channel, per_pixel] = sample.args;
    if (!(low <= high && std::isfinite(low) && std::isfinite(high)))
      refuse("expected low to be at most high, got ", low, " and ", high);
    factors_ = {low / 2, (high - low) / 2, std::max(low, std::nextafter(high, low))};
    if (low == high) factors_.last = low;
    if (per_pixel) return;
    // All pixels have the same factors: a number that is not random.
    const float drawn = low + (high - low) * unit(RandomStream(sample.random).next());
    if (per_channel) refuse("expected per_channel with per_pixel only");
    factors_ = {drawn / 2, 0, drawn};
  }

  int64_t rows() const { return draw_rows(pixels_.count); }
  void run(const Sample<MultiplyArgs>& sample) const {
    with_color_type(in_.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const typename MultiplyPixels<T>::Params params{sample.out[0].template as<T>(), in_.as<T>(), pixels_,
                                                      sample.random, factors_};
      each_block<MultiplyPixels<T>, 4>(sample, pixels_.count, params, [&] {
        for (int64_t row = sample.begin; row < sample.end; row++) run_row<T>(params, row * kDrawRow);
      });
    });
  }

 private:
  template <class T>
  void run_row(const typename MultiplyPixels<T>::Params& params, int64_t first) const {
    alignas(64) float drawn[kDrawRow], spread[3 * kDrawRow];
    const int64_t n = std::min(kDrawRow, pixels_.count - first), channels = pixels_.channels;
    draw_numbers(drawn, params.key, first, n, factors_);
    if (channels == 1) return multiply(params.out + first, params.in + first, n, drawn);
    if (channels == 3 && pixels_.plane == 1) {
      repeat_each<3>(drawn, n, spread);
      return multiply(params.out + 3 * first, params.in + 3 * first, 3 * n, spread);
    }
    for (int64_t i = 0; i < n;) {
      const int64_t at = (first + i) % pixels_.plane, run = std::min(n - i, pixels_.plane - at);
      for (int64_t c = 0; c < channels; c++) {
        const int64_t to = pixels_.element(first + i, c);
        multiply(params.out + to, params.in + to, run, drawn + i);
      }
      i += run;
    }
  }

  const SampleView& in_;
  const PixelPlaces pixels_;
  Uniform<float> factors_;
};

// The pixels of whole tiles, and what is left of the last one.
template <class T, bool interleaved>
AVIDA_TEMPLATE_CLONES static void make_iso_tiles(const typename IsoPixels<T>::Params& given, int64_t begin,
                                                 int64_t end) {
  typename IsoPixels<T>::Params params = given;
  if (interleaved) params.pixels.channels = 3, params.pixels.plane = 1;
  for (int64_t first = begin; first < end; first += kIsoTile) {
    const PhiloxTile tile(params.key, first / kIsoTile);
    float lighter[kIsoTile], turn[kIsoTile];
    for (int lane = 0; lane < kLanes; lane++) {
      float drawn[4];
      normals(tile.block(lane), drawn);
      for (int k = 0; k < 2; k++) lighter[16 * k + lane] = drawn[2 * k], turn[16 * k + lane] = drawn[2 * k + 1];
    }
    const int64_t n = std::min<int64_t>(kIsoTile, end - first);
    float x[3][kIsoTile];
    for (int64_t i = 0; i < n; i++)
      for (int c = 0; c < 3; c++) x[c][i] = static_cast<float>(params.in[params.pixels.element(first + i, c)]);
    for (int i = 0; i < kIsoTile; i++) {
      const Pixel<3> made = params.noise({{x[0][i], x[1][i], x[2][i]}}, lighter[i], turn[i]);
      for (int c = 0; c < 3; c++) x[c][i] = made[c];
    }
    for (int64_t i = 0; i < n; i++)
      for (int c = 0; c < 3; c++) params.out[params.pixels.element(first + i, c)] = store_channel<T>(x[c][i]);
  }
}

class IsoPlan {
 public:
  explicit IsoPlan(const Sample<IsoArgs>& sample) : in_(sample.in[0]), pixels_(places_of(in_, false)) {
    const auto& [color_shift, intensity] = sample.args;
    if (pixels_.channels != 3) refuse("expected the 3 channels of RGB, got ", pixels_.channels);
    if (!(color_shift >= 0 && color_shift <= 1)) refuse("expected a color_shift from 0 to 1, got ", color_shift);
    if (!(intensity >= 0 && intensity <= 10)) refuse("expected an intensity from 0 to 10, got ", intensity);
    noise_ = {range_of_colors(in_.dtype), intensity, 6 * color_shift};
  }

  int64_t rows() const { return draw_rows(pixels_.count); }
  void run(const Sample<IsoArgs>& sample) const {
    with_color_type(in_.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const typename IsoPixels<T>::Params params{sample.out[0].template as<T>(), in_.as<T>(), pixels_, sample.random,
                                                 noise_};
      const int64_t first = sample.begin * kDrawRow, end = std::min(sample.end * kDrawRow, pixels_.count);
      each_item<IsoPixels<T>>(sample, 0, (pixels_.count + kIsoTile - 1) / kIsoTile * 16, params, [&] {
        pixels_.plane == 1 ? make_iso_tiles<T, true>(params, first, end) : make_iso_tiles<T, false>(params, first, end);
      });
    });
  }

 private:
  const SampleView& in_;
  const PixelPlaces pixels_;
  IsoNoise noise_;
};

}  // namespace

AVIDA_OP_IN(augment, iso_noise, IsoArgs) {
  op.doc(
        "Makes the noise of cameras in the dark. It is normally distributed, of the lightness and the hue of each "
        "pixel.")
      .input("input", "Images or videos in RGB, of uint8, uint16 or floats.", {"HWC", "CHW", "FHWC", "FCHW"})
      .arg("color_shift", &IsoArgs::color_shift, "The standard deviation of the hue, in circles.")
      .arg("intensity", &IsoArgs::intensity,
           "The standard deviation of the lightness where it is dark; white has no noise.")
      .random()
      .infer([](Infer<IsoArgs>& call) { check_colors(call.in[0].dtype); })
      .example("avida.augment.iso_noise(image, intensity=0.3)")
      .each_sample<IsoPlan>()
      .cost(20);
}

AVIDA_OP_IN(augment, multiplicative_noise, MultiplyArgs) {
  using Args = MultiplyArgs;
  op.doc("Multiplies pixels by random numbers, all of a range equally likely.")
      .input("input", "Images or videos of uint8, uint16 or floats.", {"HW", "HWC", "CHW", "FHWC", "FCHW"})
      .arg("high", &Args::high, "The end of the range.")
      .arg("low", &Args::low, "The start of the range.")
      .arg("per_channel", &Args::per_channel, "Whether each channel of a pixel has a number of its own.")
      .arg("per_pixel", &Args::per_pixel, "Whether each pixel has a number of its own; if not, the sample has one.")
      .random()
      .infer([](Infer<Args>& call) { check_colors(call.in[0].dtype); })
      .example("avida.augment.multiplicative_noise(image, low=0.5, high=1.5)")
      .each_sample<MultiplyPlan>()
      .cost(5);
}

}  // namespace avida::ops
