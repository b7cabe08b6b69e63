#include "ops/augment/autocontrast.h"

#include <vector>

#include "core/clones.h"
#include "loops/pixels/each_pixel.h"
#include "ops/augment/colors.h"

namespace avida::ops {
namespace {

constexpr int kMostInterleaved = 4;

// Of interleaved channels: many pixels at a time, whose extremes are kept apart.
template <class T>
AVIDA_TEMPLATE_CLONES static void find_extremes(const T* __restrict in, int64_t pixels, int64_t channels,
                                                float* __restrict low, float* __restrict high) {
  using Number = typename ComputeType<T>::type;
  constexpr int64_t kTogether = 64;
  const int64_t block = channels * kTogether, whole = pixels / kTogether * kTogether;
  Number least[kMostInterleaved * kTogether], most[kMostInterleaved * kTogether];
  for (int64_t k = 0; k < block; k++) least[k] = most[k] = Number(in[k % channels]);
  for (int64_t i = 0; i < whole * channels; i += block)
    for (int64_t k = 0; k < block; k++) {
      const Number x = in[i + k];
      least[k] = x < least[k] ? x : least[k];
      most[k] = x > most[k] ? x : most[k];
    }
  for (int64_t i = whole * channels; i < pixels * channels; i++) {
    const Number x = in[i];
    least[i % channels] = x < least[i % channels] ? x : least[i % channels];
    most[i % channels] = x > most[i % channels] ? x : most[i % channels];
  }
  for (int64_t k = 0; k < block; k++) {
    low[k % channels] = std::min(low[k % channels], static_cast<float>(least[k]));
    high[k % channels] = std::max(high[k % channels], static_cast<float>(most[k]));
  }
}

// Images are frames of interleaved channels; each plane of images with channels first is a frame of one channel.
class AutocontrastPlan {
 public:
  explicit AutocontrastPlan(const Sample<NoArgs>& sample) : in_(sample.in[0]) {
    const int h = in_.layout.find('H'), w = in_.layout.find('W'), c = in_.layout.find('C');
    for (int d = 0; d < h; d++) frames_ *= in_.shape[d];
    pixels_ = in_.shape[h] * in_.shape[w];
    if (c > w) channels_ = in_.shape[c];
    if (channels_ > kMostInterleaved)
      refuse("expected up to ", kMostInterleaved, " channels that are last, got ", channels_,
             ": give them first, as CHW");
  }

  Shape shape() const { return in_.shape; }
  int64_t rows() const { return pixels_ * channels_ > 0 ? frames_ : 0; }
  void run(const Sample<NoArgs>& sample) const {
    if (rows() == 0) return;
    with_dtype(in_.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      if constexpr (same_type<T, uint8_t> || same_type<T, uint16_t> || (TypeTraits<T>::is_float && sizeof(T) < 8))
        sample.launches ? launch<T>(sample) : stretch_frames<T>(sample);
    });
  }

 private:
  template <class T>
  void stretch_frames(const Sample<NoArgs>& sample) const {
    for (int64_t frame = sample.begin; frame < sample.end; frame++) {
      float low[kMostInterleaved], high[kMostInterleaved];
      std::fill_n(low, channels_, 3e38f);
      std::fill_n(high, channels_, -3e38f);
      find_extremes(in_.as<const T>() + frame * pixels_ * channels_, pixels_, channels_, low, high);
      Stretch by[kMostInterleaved];
      for (int64_t c = 0; c < channels_; c++) by[c] = stretch_of(low[c], high[c], range_of_colors(in_.dtype));
      stretch(sample, frame, by);
    }
  }

  template <class T>
  void launch(const Sample<NoArgs>& sample) const {
    Launches& launches = *sample.launches;
    const int64_t stretches = frames_ * channels_;
    auto* by = static_cast<Stretch*>(launches.scratch(stretches * static_cast<int64_t>(sizeof(Stretch))));
    launches.add<ChannelExtremes<T>>(0, stretches,
                                     {by, in_.as<T>(), channels_, pixels_, channels_, 1, range_of_colors(in_.dtype)});
    launches.then();
    for (int64_t frame = 0; frame < frames_; frame++) stretch(sample, frame, by + frame * channels_);
  }

  // As interleaved pixels, whatever the layout.
  void stretch(const Sample<NoArgs>& sample, int64_t frame, const Stretch* by) const {
    auto view = [&](const SampleView& whole) {
      SampleView part{nullptr, {pixels_, channels_}, whole.dtype, Layout("WC")};
      part.data = whole.as<char>() + frame * part.bytes();
      return part;
    };
    const PixelGrid grid{pixels_, channels_, 1};
    const FrameWork work{{view(sample.in[0])}, {view(sample.out[0])}, 0, grid.blocks(), sample.launches};
    if (channels_ == 1) each_pixel<StretchPixel<1>>(work, grid, by);
    if (channels_ == 2) each_pixel<StretchPixel<2>>(work, grid, by);
    if (channels_ == 3) each_pixel<StretchPixel<3>>(work, grid, by);
    if (channels_ == 4) each_pixel<StretchPixel<4>>(work, grid, by);
  }

  const SampleView& in_;
  int64_t frames_ = 1, pixels_, channels_ = 1;
};

}  // namespace

AVIDA_OP_IN(augment, autocontrast, NoArgs) {
  op.doc("Stretches each channel from its lowest and highest values to black and white.")
      .input("input", "Images or videos of uint8, uint16 or floats; each frame is stretched by itself.",
             {"HW", "HWC", "CHW", "FHWC", "FCHW"})
      .example("avida.augment.autocontrast(image)")
      .infer([](Infer<NoArgs>& call) { check_colors(call.in[0].dtype); })
      .each_sample<AutocontrastPlan>()
      .cost(2);
}

}  // namespace avida::ops
