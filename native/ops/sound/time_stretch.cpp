// `augment.pitch_shift`, `augment.time_stretch`: the phase vocoder.
#include <algorithm>
#include <cmath>

#include "codecs/audio/resample_audio.h"
#include "core/clones.h"
#include "loops/spectral/frame_transform.h"
#include "ops/sound/signals.h"

namespace avida::ops {
namespace {

struct VocoderArgs {
  std::optional<int> hop_length;
  int n_fft = 2048;
};
struct StretchArgs : VocoderArgs {
  float rate = 1;
};
struct PitchArgs : VocoderArgs {
  float steps = 0;
};

// One element of each bin: the magnitude between two frames, and the phase by which the second one is ahead.
AVIDA_CLONES void next_frame(const float* __restrict re, const float* __restrict im, const float* __restrict next_re,
                             const float* __restrict next_im, float share, float* __restrict phase_re,
                             float* __restrict phase_im, float* __restrict out_re, float* __restrict out_im,
                             int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    const float a = std::sqrt(re[k] * re[k] + im[k] * im[k]),
                b = std::sqrt(next_re[k] * next_re[k] + next_im[k] * next_im[k]);
    const float magnitude = (1 - share) * a + share * b, p = phase_re[k], q = phase_im[k];
    out_re[k] = magnitude * p;
    out_im[k] = magnitude * q;
    // Numbers without a phase have that of 1.
    const float per_a = 1 / std::max(a, 1e-30f), per_b = 1 / std::max(b, 1e-30f);
    const float a_re = a > 1e-30f ? re[k] * per_a : 1, a_im = a > 1e-30f ? im[k] * per_a : 0;
    const float b_re = b > 1e-30f ? next_re[k] * per_b : 1, b_im = b > 1e-30f ? next_im[k] * per_b : 0;
    const float turn_re = b_re * a_re + b_im * a_im, turn_im = b_im * a_re - b_re * a_im;
    const float r = p * turn_re - q * turn_im, i = p * turn_im + q * turn_re;
    const float length = 1 / std::sqrt(std::max(r * r + i * i, 1e-30f));
    phase_re[k] = r * length;
    phase_im[k] = i * length;
  }
}

// Frames `rate` apart instead of one.
FrameSpectra stretched(const FrameSpectra& given, double rate) {
  const int64_t bins = given.bins();
  const auto frames = static_cast<int64_t>(std::ceil(static_cast<double>(given.frames()) / rate));
  FrameSpectra made(frames, bins);
  const std::vector<float> silence(bins);
  std::vector<float> phase_re(bins), phase_im(bins);
  for (int64_t k = 0; k < bins; k++) {
    const float a = std::hypot(given.re(0)[k], given.im(0)[k]);
    phase_re[k] = a > 1e-30f ? given.re(0)[k] / a : 1;
    phase_im[k] = a > 1e-30f ? given.im(0)[k] / a : 0;
  }
  auto part = [&](int64_t frame, bool imaginary) {
    if (frame >= given.frames()) return silence.data();
    return imaginary ? given.im(frame) : given.re(frame);
  };
  for (int64_t t = 0; t < frames; t++) {
    // A rate of 0.7 is a float nearby: what is a frame but for that is that frame.
    double place = static_cast<double>(t) * rate;
    if (std::fabs(place - std::round(place)) < 1e-7 * place) place = std::round(place);
    const auto frame = static_cast<int64_t>(place);
    next_frame(part(frame, false), part(frame, true), part(frame + 1, false), part(frame + 1, true),
               static_cast<float>(place - static_cast<double>(frame)), phase_re.data(), phase_im.data(), made.re(t),
               made.im(t), bins);
  }
  return made;
}

class Vocoder {
 public:
  explicit Vocoder(const VocoderArgs& args) : n_fft_(args.n_fft), hop_(args.hop_length.value_or(args.n_fft / 4)) {
    if (n_fft_ < 4 || n_fft_ % 2 || n_fft_ > 1 << 16) refuse("expected an even n_fft from 4 to 65536, got ", n_fft_);
    if (hop_ < 1 || hop_ > n_fft_) refuse("expected a hop_length from 1 to n_fft, got ", hop_);
    for (int64_t i = 0; i < n_fft_; i++)
      window_.push_back(
          static_cast<float>(0.5 - 0.5 * std::cos(2 * M_PI * static_cast<double>(i) / static_cast<double>(n_fft_))));
  }

  static int64_t stretched_length(int64_t length, double rate) {
    if (!(rate >= 0.01 && rate <= 100)) refuse("expected a rate from 0.01 to 100, got ", rate);
    return std::llrint(static_cast<double>(length) / rate);
  }
  std::vector<float> stretch(const std::vector<float>& signal, double rate) const {
    const int64_t length = std::ssize(signal), n = stretched_length(length, rate);
    std::vector<float> made(n);
    if (length == 0 || n == 0) return made;
    const FrameTransform transform(n_fft_);
    const FrameSpectra spectra = stretched(
        transform.forward(signal.data(), length, 1 + length / hop_, hop_, n_fft_ / 2, n_fft_, window_.data()), rate);
    transform.add_inverse(spectra, made.data(), n, hop_, n_fft_ / 2, window_.data());
    divide_by_windows(made, spectra.frames());
    return made;
  }

 private:
  // By the sum of the squares of the windows that cover an element.
  void divide_by_windows(std::vector<float>& made, int64_t frames) const {
    std::vector<float> sum(made.size());
    for (int64_t f = 0; f < frames; f++) {
      const int64_t begin = f * hop_ - n_fft_ / 2;
      for (int64_t t = std::max<int64_t>(0, -begin), end = std::min(n_fft_, std::ssize(made) - begin); t < end; t++)
        sum[begin + t] += window_[t] * window_[t];
    }
    for (size_t i = 0; i < made.size(); i++)
      if (sum[i] > 1e-30f) made[i] /= sum[i];
  }

  const int64_t n_fft_, hop_;
  std::vector<float> window_;
};

class StretchPlan {
 public:
  explicit StretchPlan(const Sample<StretchArgs>& sample)
      : signals_(sample.in[0]), vocoder_(sample.args), rate_(sample.args.rate), shape_(sample.in[0].shape) {
    shape_[0] = Vocoder::stretched_length(signals_.length, rate_);
  }
  const Shape& shape() const { return shape_; }
  int64_t rows() const { return shape_[0] > 0 ? signals_.channels : 0; }
  void run(const Sample<StretchArgs>& sample) const {
    for (int64_t c = sample.begin; c < sample.end; c++)
      Signals::store(sample.out[0], signals_.channels, c,
                     vocoder_.stretch(signals_.load(sample.in[0], c), rate_).data(), shape_[0]);
  }

 private:
  const Signals signals_;
  const Vocoder vocoder_;
  const double rate_;
  Shape shape_;
};

// Made longer or shorter, and resampled to what it was.
class PitchPlan {
 public:
  explicit PitchPlan(const Sample<PitchArgs>& sample) : signals_(sample.in[0]), vocoder_(sample.args) {
    const float steps = sample.args.steps;
    if (!(steps >= -48 && steps <= 48)) refuse("expected from -48 to 48 steps, got ", steps);
    rate_ = std::exp2(-static_cast<double>(steps) / 12);
  }
  int64_t rows() const { return signals_.length > 0 ? signals_.channels : 0; }
  void run(const Sample<PitchArgs>& sample) const {
    const ResamplingFilter& filter = ResamplingFilter::shared(resampling_lobes(50));
    for (int64_t c = sample.begin; c < sample.end; c++) {
      const std::vector<float> signal = vocoder_.stretch(signals_.load(sample.in[0], c), rate_);
      std::vector<float> made(signals_.length);
      const int64_t n = std::min(resampled_length(std::ssize(signal), 1, rate_), signals_.length);
      filter.run(signal.data(), std::ssize(signal), 1, rate_, 0, n, made.data());
      Signals::store(sample.out[0], signals_.channels, c, made.data(), signals_.length);
    }
  }

 private:
  const Signals signals_;
  const Vocoder vocoder_;
  double rate_;
};

template <class Plan, class Args>
void vocoder_op(Op<Args>& op) {
  op.input("signal", "The signals: float32, with the axes time, or time and channels.")
      .arg("hop_length", &Args::hop_length, "Elements from one frame to the next. Default: a quarter of n_fft.", fixed)
      .arg("n_fft", &Args::n_fft, "Elements of the frames of the phase vocoder, an even number.", fixed)
      .infer(infer_signals<Args>)
      .template each_sample<Plan>()
      .cost(200)
      .on_cpu();
}

}  // namespace

AVIDA_OP_IN(augment, pitch_shift, PitchArgs) {
  op.doc("Makes sound higher or lower, and leaves its length.")
      .arg("steps", &PitchArgs::steps, "By how many semitones: 12 is twice the frequency.")
      .example("avida.augment.pitch_shift(np.sin(np.arange(4000, dtype=np.float32) / 9), steps=4)");
  vocoder_op<PitchPlan>(op);
}

AVIDA_OP_IN(augment, time_stretch, StretchArgs) {
  op.doc("Makes sound faster or slower, and leaves its pitch.")
      .arg("rate", &StretchArgs::rate, "How many times as fast it becomes.")
      .example("avida.augment.time_stretch(np.sin(np.arange(4000, dtype=np.float32) / 9), rate=2).shape");
  vocoder_op<StretchPlan>(op);
}

}  // namespace avida::ops
