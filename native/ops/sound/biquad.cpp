// `augment.biquad`: filters of second order for sound.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/clones.h"
#include "ops/sound/signals.h"

namespace avida::ops {

enum class Biquad { low_pass, high_pass, band_pass, band_stop, all_pass, peak, low_shelf, high_shelf };
AVIDA_CHOICES(Biquad, "low_pass", "high_pass", "band_pass", "band_stop", "all_pass", "peak", "low_shelf", "high_shelf")

namespace {

struct BiquadArgs {
  float frequency = 1000, gain = 0;
  Biquad kind = Biquad::low_pass;
  float q = 0.70710678f, sample_rate = 16000;
};

// Of y[n] = b0 x[n] + b1 x[n-1] + b2 x[n-2] - a1 y[n-1] - a2 y[n-2].
struct Coefficients {
  double b0, b1, b2, a1, a2;

  // From the Audio EQ Cookbook (Bristow-Johnson, 1998).
  explicit Coefficients(const BiquadArgs& args) {
    const double turn = 2 * M_PI * args.frequency / args.sample_rate, c = std::cos(turn), s = std::sin(turn);
    const double alpha = s / (2 * args.q), a = std::pow(10.0, args.gain / 40), root = 2 * std::sqrt(a) * alpha;
    double a0 = 1 + alpha;
    a1 = -2 * c, a2 = 1 - alpha;
    switch (args.kind) {
      case Biquad::low_pass:
        b0 = b2 = (1 - c) / 2, b1 = 1 - c;
        break;
      case Biquad::high_pass:
        b0 = b2 = (1 + c) / 2, b1 = -1 - c;
        break;
      case Biquad::band_pass:
        b0 = alpha, b1 = 0, b2 = -alpha;
        break;
      case Biquad::band_stop:
        b0 = b2 = 1, b1 = -2 * c;
        break;
      case Biquad::all_pass:
        b0 = 1 - alpha, b1 = -2 * c, b2 = 1 + alpha;
        break;
      case Biquad::peak:
        b0 = 1 + alpha * a, b1 = -2 * c, b2 = 1 - alpha * a;
        a0 = 1 + alpha / a, a2 = 1 - alpha / a;
        break;
      default: {
        const double sign = args.kind == Biquad::low_shelf ? 1 : -1, less = sign * (a - 1) * c, more = (a + 1) * c;
        b0 = a * (a + 1 - less + root), b2 = a * (a + 1 - less - root);
        b1 = sign * 2 * a * (a - 1 - sign * more);
        a0 = a + 1 + less + root, a2 = a + 1 + less - root;
        a1 = -sign * 2 * (a - 1 + sign * more);
      }
    }
    for (double* each : {&b0, &b1, &b2, &a1, &a2}) *each /= a0;
  }
};

// Eight elements at once: what they owe to the input, by the response of the recursion, and to the two before them.
struct Block {
  static constexpr int kSize = 8;
  double response[kSize][kSize] = {}, first[kSize], second[kSize];

  explicit Block(const Coefficients& by) {
    std::array<double, kSize + 2> y{};
    auto run = [&](int from) {
      for (int i = from; i < kSize; i++) y[i + 2] = -by.a1 * y[i + 1] - by.a2 * y[i];
    };
    for (int k = 0; k < kSize; k++) {
      y.fill(0);
      y[k + 2] = 1;
      run(k + 1);
      for (int i = k; i < kSize; i++) response[k][i] = y[i + 2];
    }
    y.fill(0), y[1] = 1, run(0);
    std::copy_n(y.begin() + 2, kSize, first);
    y.fill(0), y[0] = 1, run(0);
    std::copy_n(y.begin() + 2, kSize, second);
  }
};

AVIDA_CLONES void filter(float* __restrict signal, int64_t n, const Coefficients& by, const Block& block) {
  constexpr int size = Block::kSize;
  double x1 = 0, x2 = 0, y1 = 0, y2 = 0;
  int64_t i = 0;
  for (; i + size <= n; i += size) {
    double x[size + 2] = {x2, x1}, y[size];
    for (int k = 0; k < size; k++) x[k + 2] = static_cast<double>(signal[i + k]);
    for (int k = 0; k < size; k++) y[k] = y1 * block.first[k] + y2 * block.second[k];
    for (int j = 0; j < size; j++) {
      const double driven = by.b0 * x[j + 2] + by.b1 * x[j + 1] + by.b2 * x[j];
      for (int k = 0; k < size; k++) y[k] += driven * block.response[j][k];
    }
    for (int k = 0; k < size; k++) signal[i + k] = static_cast<float>(y[k]);
    x2 = x[size], x1 = x[size + 1], y2 = y[size - 2], y1 = y[size - 1];
  }
  for (; i < n; i++) {
    const double x = static_cast<double>(signal[i]);
    const double y = by.b0 * x + by.b1 * x1 + by.b2 * x2 - by.a1 * y1 - by.a2 * y2;
    signal[i] = static_cast<float>(y);
    x2 = x1, x1 = x, y2 = y1, y1 = y;
  }
}

class BiquadPlan {
 public:
  explicit BiquadPlan(const Sample<BiquadArgs>& sample)
      : signals_(sample.in[0]), by_(checked(sample.args)), block_(by_) {}

  int64_t rows() const { return signals_.length > 0 ? signals_.channels : 0; }
  void run(const Sample<BiquadArgs>& sample) const {
    for (int64_t c = sample.begin; c < sample.end; c++) {
      std::vector<float> signal = signals_.load(sample.in[0], c);
      filter(signal.data(), signals_.length, by_, block_);
      Signals::store(sample.out[0], signals_.channels, c, signal.data(), signals_.length);
    }
  }

 private:
  static const BiquadArgs& checked(const BiquadArgs& args) {
    if (!(args.sample_rate > 0 && std::isfinite(args.sample_rate)))
      refuse("expected a sample_rate above 0, got ", args.sample_rate);
    if (!(args.frequency > 0 && args.frequency < args.sample_rate / 2))
      refuse("expected a frequency above 0 and below half of the sample rate, ", args.sample_rate / 2, ", got ",
             args.frequency);
    if (!(args.q > 0 && args.q <= 1e6f)) refuse("expected a q above 0, got ", args.q);
    if (!(args.gain >= -200 && args.gain <= 200)) refuse("expected a gain from -200 to 200 decibels, got ", args.gain);
    return args;
  }

  const Signals signals_;
  const Coefficients by_;
  const Block block_;
};

}  // namespace

AVIDA_OP_IN(augment, biquad, BiquadArgs) {
  using Args = BiquadArgs;
  op.doc("Filters sound by a biquad. Low and high pass, equalizers and others, from the Audio EQ Cookbook.")
      .input("signal", "The signals: float32, with the axes time, or time and channels.")
      .arg("frequency", &Args::frequency, "Where a pass ends, or the middle of a band or a peak, in hertz.")
      .arg("gain", &Args::gain, "The gain of a peak or a shelf in decibels.")
      .arg("kind", &Args::kind,
           "\"low_pass\", \"high_pass\", \"band_pass\" (of 0 dB at its peak), \"band_stop\", \"all_pass\", \"peak\", "
           "\"low_shelf\" or \"high_shelf\".")
      .arg("q", &Args::q, "How narrow a band is, or how steep an edge.")
      .arg("sample_rate", &Args::sample_rate, "The sample rate in hertz.")
      .infer(infer_signals<Args>)
      .example("avida.augment.biquad(np.float32([1, 0, 0, 0]), frequency=2000, kind=\"high_pass\")")
      .each_sample<BiquadPlan>()
      .cost(8)
      .on_cpu();
}

}  // namespace avida::ops
