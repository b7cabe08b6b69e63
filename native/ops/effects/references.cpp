// `augment.fda`, `augment.histogram_matching`: images get the look of others.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/clones.h"
#include "device/pixel.h"
#include "loops/pixels/each_pixel.h"
#include "ops/augment/colors.h"

namespace avida::ops {
namespace {

struct FdaArgs {
  float beta = 0.01f;
};
struct MatchingArgs {
  float blend = 1;
};

// A channel of an image: elements that are `step` apart, in runs of `inner`.
struct Channel {
  const SampleView& image;
  PixelGrid grid;
  int64_t c;

  int64_t pixels() const { return grid.outer * grid.inner; }
  int64_t element(int64_t pixel) const {
    return (pixel / grid.inner * grid.channels + c) * grid.inner + pixel % grid.inner;
  }
};

// Every element of an image without channels is a pixel of one channel.
PixelGrid channels_of(const SampleView& in) { return in.layout.find('C') < 0 ? element_grid(in) : pixel_grid(in); }

void check_channels(const PixelGrid& image, const PixelGrid& reference) {
  if (image.channels != reference.channels)
    refuse("expected a reference with ", image.channels, " channels, got ", reference.channels);
}

// The share of the bytes that are at most as large as each, and how many there are of each.
std::array<int64_t, 256> counts_up_to(const Channel& channel) {
  std::array<int64_t, 256> counts{};
  const auto* bytes = channel.image.as<const uint8_t>();
  for (int64_t i = 0; i < channel.pixels(); i++) counts[bytes[channel.element(i)]]++;
  for (int k = 1; k < 256; k++) counts[k] += counts[k - 1];
  return counts;
}

// The byte of the reference with the same rank, between those that it has.
std::array<uint8_t, 256> matching_table(const Channel& image, const Channel& reference, float blend) {
  const auto ranks = counts_up_to(image), known = counts_up_to(reference);
  const double per_pixel = 1 / static_cast<double>(image.pixels()),
               per_other = 1 / static_cast<double>(reference.pixels());
  std::vector<double> places, values;
  for (int k = 0; k < 256; k++)
    if (known[k] > (k ? known[k - 1] : 0)) {
      places.push_back(static_cast<double>(known[k]) * per_other);
      values.push_back(k);
    }
  std::array<uint8_t, 256> table;
  for (int k = 0; k < 256; k++) {
    const double at = static_cast<double>(ranks[k]) * per_pixel;
    const auto next = std::lower_bound(places.begin(), places.end(), at) - places.begin();
    double value = next == 0 ? values.front() : values.back();
    if (next > 0 && next < std::ssize(places))
      value = values[next - 1] +
              (values[next] - values[next - 1]) * (at - places[next - 1]) / (places[next] - places[next - 1]);
    table[k] =
        store_channel<uint8_t>(static_cast<float>(std::floor(value)) * blend + static_cast<float>(k) * (1 - blend));
  }
  return table;
}

class MatchingPlan {
 public:
  explicit MatchingPlan(const Sample<MatchingArgs>& sample)
      : grid_(channels_of(sample.in[0])), reference_(channels_of(sample.in[1])) {
    check_channels(grid_, reference_);
    if (!(sample.args.blend >= 0 && sample.args.blend <= 1))
      refuse("expected a blend from 0 to 1, got ", sample.args.blend);
    if (sample.in[1].elements() == 0 && sample.in[0].elements() > 0) refuse("expected a reference that is not empty");
  }
  int64_t rows() const { return grid_.outer * grid_.inner > 0 ? grid_.channels : 0; }
  void run(const Sample<MatchingArgs>& sample) const {
    const auto* in = sample.in[0].as<const uint8_t>();
    auto* out = sample.out[0].as<uint8_t>();
    for (int64_t c = sample.begin; c < sample.end; c++) {
      const Channel channel{sample.in[0], grid_, c};
      const auto table = matching_table(channel, {sample.in[1], reference_, c}, sample.args.blend);
      for (int64_t i = 0; i < channel.pixels(); i++) out[channel.element(i)] = table[in[channel.element(i)]];
    }
  }

 private:
  const PixelGrid grid_, reference_;
};

AVIDA_CLONES void add_waves(float* __restrict re, float* __restrict im, float x, const float* __restrict cosine,
                            const float* __restrict sine, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    re[k] += x * cosine[k];
    im[k] -= x * sine[k];
  }
}
AVIDA_CLONES void add_turned(float* __restrict re, float* __restrict im, const float* __restrict a_re,
                             const float* __restrict a_im, float c, float s, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    re[k] += a_re[k] * c - a_im[k] * s;
    im[k] += a_re[k] * s + a_im[k] * c;
  }
}
AVIDA_CLONES void add_wave(float* __restrict out, float re, float im, const float* __restrict cosine,
                           const float* __restrict sine, int64_t n) {
  for (int64_t x = 0; x < n; x++) out[x] += re * cosine[x] - im * sine[x];
}

struct Turn {
  float re, im;
};

// The waves of the lowest frequencies of a plane: 0 to `most` along rows, -most to most along columns.
class LowWaves {
 public:
  LowWaves(int64_t height, int64_t width, int64_t most)
      : height_(height),
        width_(width),
        most_(most),
        bins_(most + 1),
        by_column_(bins_ * width),
        by_bin_(bins_ * width) {
    for (int64_t x = 0; x < width; x++)
      for (int64_t k = 0; k < bins_; k++)
        by_column_.set(x * bins_ + k, turn(k * x, width)), by_bin_.set(k * width + x, turn(k * x, width));
  }

  struct Numbers {
    explicit Numbers(int64_t n) : re(n), im(n) {}
    void set(int64_t i, const Turn& x) { re[i] = x.re, im[i] = x.im; }
    std::vector<float> re, im;
  };
  int64_t count() const { return bins_ * (2 * most_ + 1); }

  Numbers forward(const std::vector<float>& plane) const {
    Numbers made(count());
    std::vector<float> re(bins_), im(bins_);
    for (int64_t y = 0; y < height_; y++) {
      std::fill(re.begin(), re.end(), 0.0f), std::fill(im.begin(), im.end(), 0.0f);
      for (int64_t x = 0; x < width_; x++)
        add_waves(re.data(), im.data(), plane[y * width_ + x], by_column_.re.data() + x * bins_,
                  by_column_.im.data() + x * bins_, bins_);
      for (int64_t k = -most_; k <= most_; k++) {
        const Turn by = turn(k * y, height_);
        add_turned(made.re.data() + (k + most_) * bins_, made.im.data() + (k + most_) * bins_, re.data(), im.data(),
                   by.re, -by.im, bins_);
      }
    }
    return made;
  }
  // Adds what has these numbers to a plane.
  void add_inverse(const Numbers& numbers, std::vector<float>& plane) const {
    const float scale = 1 / (static_cast<float>(height_) * static_cast<float>(width_));
    std::vector<float> re(bins_), im(bins_);
    for (int64_t y = 0; y < height_; y++) {
      std::fill(re.begin(), re.end(), 0.0f), std::fill(im.begin(), im.end(), 0.0f);
      for (int64_t k = -most_; k <= most_; k++) {
        const Turn by = turn(k * y, height_);
        add_turned(re.data(), im.data(), numbers.re.data() + (k + most_) * bins_,
                   numbers.im.data() + (k + most_) * bins_, by.re, by.im, bins_);
      }
      for (int64_t k = 0; k < bins_; k++)  // all but the first stand for their conjugates, too
        add_wave(plane.data() + y * width_, re[k] * (k ? 2 * scale : scale), im[k] * (k ? 2 * scale : scale),
                 by_bin_.re.data() + k * width_, by_bin_.im.data() + k * width_, width_);
    }
  }

 private:
  static Turn turn(int64_t part, int64_t whole) {
    const double angle = 2 * M_PI * static_cast<double>((part % whole + whole) % whole) / static_cast<double>(whole);
    return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }

  const int64_t height_, width_, most_, bins_;
  Numbers by_column_, by_bin_;
};

class FdaPlan {
 public:
  explicit FdaPlan(const Sample<FdaArgs>& sample) : grid_(channels_of(sample.in[0])) {
    const SampleView &image = sample.in[0], &reference = sample.in[1];
    const float beta = sample.args.beta;
    if (image.shape != reference.shape || image.layout != reference.layout)
      refuse("expected a reference of the image's shape, ", image.shape, ", got ", reference.shape,
             ": resize it before");
    if (!(beta >= 0 && beta < 0.5f)) refuse("expected a beta from 0 to below 0.5, got ", beta);
    height_ = image.shape[image.layout.find('H')], width_ = image.shape[image.layout.find('W')];
    const int64_t least = std::min(height_, width_);
    most_ = std::clamp<int64_t>(static_cast<int64_t>(beta * static_cast<float>(least)), 0,
                                std::max<int64_t>(0, (least - 1) / 2));
  }
  int64_t rows() const { return height_ * width_ > 0 ? grid_.channels : 0; }
  void run(const Sample<FdaArgs>& sample) const {
    const LowWaves waves(height_, width_, most_);
    with_dtype(sample.in[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      if constexpr (same_type<T, uint8_t> || same_type<T, uint16_t> || (TypeTraits<T>::is_float && sizeof(T) < 8))
        for (int64_t c = sample.begin; c < sample.end; c++) adapt<T>(sample, waves, c);
    });
  }

 private:
  template <class T>
  std::vector<float> load(const Channel& channel) const {
    std::vector<float> plane(channel.pixels());
    const auto* elements = channel.image.template as<const T>();
    for (int64_t i = 0; i < channel.pixels(); i++) plane[i] = static_cast<float>(elements[channel.element(i)]);
    return plane;
  }
  template <class T>
  void adapt(const Sample<FdaArgs>& sample, const LowWaves& waves, int64_t c) const {
    const Channel channel{sample.in[0], grid_, c};
    std::vector<float> plane = load<T>(channel);
    const LowWaves::Numbers other = waves.forward(load<T>({sample.in[1], grid_, c}));
    LowWaves::Numbers own = waves.forward(plane);
    // What is missing to the magnitude of the other; numbers without a phase have that of 1.
    for (int64_t i = 0; i < waves.count(); i++) {
      const float has = std::hypot(own.re[i], own.im[i]), more = std::hypot(other.re[i], other.im[i]) - has;
      own.re[i] = has > 0 ? own.re[i] / has * more : more;
      own.im[i] = has > 0 ? own.im[i] / has * more : 0;
    }
    waves.add_inverse(own, plane);
    auto* out = sample.out[0].template as<T>();
    for (int64_t i = 0; i < channel.pixels(); i++) out[channel.element(i)] = store_channel<T>(plane[i]);
  }

  const PixelGrid grid_;
  int64_t height_, width_, most_;
};

template <class Args>
Op<Args>& takes_two(Op<Args>& op, const char* reference) {
  return op.input("input", "The images.", {"HW", "HWC", "CHW"}).input("reference", reference, {"HW", "HWC", "CHW"});
}

}  // namespace

AVIDA_OP_IN(augment, fda, FdaArgs) {
  takes_two(op, "Images of the same type and shapes, whose look the first ones get.")
      .doc(
          "Takes the strength of low frequencies from other images. Phases stay: Fourier domain adaptation (Yang and "
          "Soatto, 2020).")
      .arg("beta", &FdaArgs::beta, "How far from zero frequencies are low: a share of the smaller extent, below 0.5.")
      .infer([](Infer<FdaArgs>& call) {
        check_colors(call.in[0].dtype);
        if (call.in[0].dtype != call.in[1].dtype)
          refuse("expected both inputs to be of one type, got ", call.in[0].dtype, " and ", call.in[1].dtype);
      })
      .example("avida.augment.fda(image, avida.augment.invert(image), beta=0.1)")
      .each_sample<FdaPlan>()
      .cost(200)
      .on_cpu();
}

AVIDA_OP_IN(augment, histogram_matching, MatchingArgs) {
  takes_two(op, "Images of bytes, with as many channels, whose colours the first ones get.")
      .doc("Gives each channel the distribution of another image's.")
      .arg("blend", &MatchingArgs::blend, "How much of it, from 0 (the image) to 1.")
      .infer([](Infer<MatchingArgs>& call) {
        for (const Meta& in : call.in)
          if (in.dtype != DType::uint8 && in.dtype != DType::none)
            refuse("expected uint8, got ", in.dtype, ": convert it by cast");
      })
      .example("avida.augment.histogram_matching(image, avida.augment.invert(image))")
      .each_sample<MatchingPlan>()
      .cost(6)
      .on_cpu();
}

}  // namespace avida::ops
