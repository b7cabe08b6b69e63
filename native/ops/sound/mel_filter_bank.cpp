#include <algorithm>
#include <cmath>
#include <tuple>

#include "loops/spectral/band_sums.h"
#include "operator/axes.h"
#include "operator/declare.h"
#include "ops/sound/sound.h"

namespace avida::ops {
namespace {

enum class MelFormula { slaney, htk };
AVIDA_CHOICES(MelFormula, "slaney", "htk")

struct MelFilterBankArgs {
  float freq_high = 0, freq_low = 0;
  MelFormula mel_formula = MelFormula::slaney;
  int nfilter = 128;
  bool normalize = true;
  float sample_rate = 44100;

  double highest() const { return freq_high > 0 ? freq_high : sample_rate / 2; }
};

// The mel scale: equal distances on it sound equally far apart.
class MelScale {
 public:
  explicit MelScale(bool htk) : htk_(htk) {}

  double from_hertz(double f) const {
    if (htk_) return 2595 * std::log10(1 + f / 700);
    return f < kLinearTo ? f / kHertzPerMel : kLinearTo / kHertzPerMel + std::log(f / kLinearTo) / kLogStep;
  }
  double to_hertz(double mel) const {
    if (htk_) return 700 * (std::pow(10, mel / 2595) - 1);
    const double beyond = mel - kLinearTo / kHertzPerMel;
    return beyond < 0 ? mel * kHertzPerMel : kLinearTo * std::exp(beyond * kLogStep);
  }

 private:
  // Slaney's formula is linear up to 1 kHz, and logarithmic from there on.
  static constexpr double kLinearTo = 1000, kHertzPerMel = 200.0 / 3;
  static inline const double kLogStep = std::log(6.4) / 27;
  bool htk_;
};

// Frequencies that are equally far apart on the mel scale.
std::vector<double> mel_frequencies(const MelFilterBankArgs& args, int count) {
  const MelScale scale(args.mel_formula == MelFormula::htk);
  const double low = scale.from_hertz(args.freq_low), high = scale.from_hertz(args.highest());
  std::vector<double> frequencies(count);
  for (int i = 0; i < count; i++) frequencies[i] = scale.to_hertz(low + (high - low) * i / (count - 1));
  return frequencies;
}

// What the filters depend on; `bins` is the number of frequencies of the input.
using MelKey = std::tuple<int64_t, int, double, double, float, bool, bool>;

// Triangular filters: each rises from the middle of the filter before it and falls to that of the next.
BandMatrix mel_filters(const MelFilterBankArgs& args, int64_t bins) {
  const std::vector<double> frequencies = mel_frequencies(args, args.nfilter + 2);
  const double step = bins > 1 ? args.sample_rate / (2 * static_cast<double>(bins - 1)) : 0;
  BandMatrix filters;
  std::vector<float> weights;
  for (int i = 0; i < args.nfilter; i++) {
    const double left = frequencies[i], middle = frequencies[i + 1], right = frequencies[i + 2];
    const double scale = args.normalize ? 2 / (right - left) : 1;
    auto weight_of = [&](int64_t bin) {
      const double f = static_cast<double>(bin) * step;
      return scale * std::min((f - left) / (middle - left), (right - f) / (right - middle));
    };
    int64_t first = step > 0 ? static_cast<int64_t>(left / step) : bins;
    while (first < bins && weight_of(first) <= 0 && static_cast<double>(first) * step < right) first++;
    weights.clear();
    for (int64_t bin = first; bin < bins && weight_of(bin) > 0; bin++)
      weights.push_back(static_cast<float>(weight_of(bin)));
    filters.add_row(weights.empty() ? 0 : first, weights);
  }
  return filters;
}

std::shared_ptr<const BandMatrix> filters_of(const MelFilterBankArgs& args, int64_t bins) {
  thread_local Recent<MelKey, BandMatrix, 4> recent;
  const MelKey key{bins,
                   args.nfilter,
                   args.highest(),
                   args.freq_low,
                   args.sample_rate,
                   args.normalize,
                   args.mel_formula == MelFormula::htk};
  return recent.find(key, [&](const MelKey&) { return mel_filters(args, bins); });
}

int frequency_axis(int ndim, const Layout& layout) {
  if (layout.empty()) return std::max(0, ndim - 2);
  const int axis = layout.find('f');
  if (axis < 0) refuse("expected a layout with an axis \"f\" (frequency), got ", layout);
  return axis;
}

void infer(Infer<MelFilterBankArgs>& call) {
  const MelFilterBankArgs& args = call.args;
  check_float32(call.in[0]);
  if (call.in[0].ndim == 0) refuse("expected an axis of frequencies, got a number");
  frequency_axis(call.in[0].ndim, call.in[0].layout);
  if (args.nfilter <= 0) refuse("expected an nfilter above 0, got ", args.nfilter);
  if (!(args.sample_rate > 0)) refuse("expected a sample_rate above 0 Hz, got ", args.sample_rate);
  if (args.freq_low < 0) refuse("expected a freq_low of at least 0 Hz, got ", args.freq_low);
  if (!(args.highest() > args.freq_low && args.highest() <= args.sample_rate))
    refuse("expected a freq_high above freq_low = ", args.freq_low, " Hz and up to sample_rate = ", args.sample_rate,
           " Hz, got ", args.highest(), " Hz");
}

class MelPlan : public BandSums {
 public:
  explicit MelPlan(const Sample<MelFilterBankArgs>& sample) : MelPlan(sample.args, sample.in[0]) {}

 private:
  MelPlan(const MelFilterBankArgs& args, const SampleView& in)
      : MelPlan(args, in, frequency_axis(in.ndim(), in.layout)) {}
  MelPlan(const MelFilterBankArgs& args, const SampleView& in, int axis)
      : BandSums(filters_of(args, in.shape[axis]), in.shape, axis) {}
};

}  // namespace

AVIDA_OP(mel_filter_bank, MelFilterBankArgs) {
  using Args = MelFilterBankArgs;
  op.doc(
        "Converts spectrograms to mel spectrograms, by a bank of triangular filters. The frequencies are along the "
        "axis \"f\" of the layout; without a layout along the last but one, or the only axis.")
      .input("input", "Spectrograms in float32, with frequencies from 0 to half of the sample rate.")
      .arg("freq_high", &Args::freq_high, "The highest frequency, in Hz; half of the sample rate by default.", fixed)
      .arg("freq_low", &Args::freq_low, "The lowest frequency, in Hz.", fixed)
      .arg(
          "mel_formula", &Args::mel_formula,
          "The mel scale: \"slaney\", linear up to 1 kHz and logarithmic above, or \"htk\", 2595 * log10(1 + f / 700).")
      .arg("nfilter", &Args::nfilter, "The number of filters, which is the extent of the axis in the output.", fixed)
      .arg("normalize", &Args::normalize, "Whether filters have an area of 1 Hz. Otherwise their peak is 1.", fixed)
      .arg("sample_rate", &Args::sample_rate, "The sample rate of the signal, in Hz.", fixed)
      .example("avida.mel_filter_bank(np.ones((257, 10), np.float32), nfilter=40, sample_rate=16000)")
      .infer(infer)
      .each_sample<MelPlan>()
      .cost(4);
}

}  // namespace avida::ops
