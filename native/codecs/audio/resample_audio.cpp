#include "codecs/audio/resample_audio.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <numbers>

#include "core/clones.h"
#include "core/error.h"
#include "core/made_once.h"
#include "device/macros.h"

namespace avida {
namespace {

constexpr int kLanes = 16;  // parallel sums: the same number for every instruction set, hence the same bits
constexpr int kMostLobes = 64;

struct Filter {
  const float* weights;
  int lobes, taps;
};

// The sum of inputs times weights, which are interpolated between two rows.
AVIDA_INLINE float blended_sum(const float* in, const float* row, const float* next, float blend, int taps) {
  float sums[kLanes] = {};
  for (int t = 0; t < taps; t += kLanes)
    for (int lane = 0; lane < kLanes; lane++) {
      float weight = row[t + lane] + (next[t + lane] - row[t + lane]) * blend;
      sums[lane] += in[t + lane] * weight;
    }
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; lane++) sums[lane] += sums[lane + half];
  return sums[0];
}

// Positions are accumulated in float32 from the beginning of each block. The error of up to a thousandth of an element
// is intended: it gives the results that users of the API know.
constexpr int64_t kBlock = 256;

AVIDA_CLONES void resample(const Filter& filter, const float* in, int64_t length, double scale, int64_t begin,
                           int64_t end, float* out, int64_t out_step) {
  constexpr int kSteps = ResamplingFilter::kSteps;
  const float advance = static_cast<float>(scale);
  float edge[2 * kMostLobes + kLanes];
  for (int64_t block = begin / kBlock * kBlock; block < end; block += kBlock) {
    double start = static_cast<double>(block) * scale;
    int64_t base = static_cast<int64_t>(start);
    float position = static_cast<float>(start - static_cast<double>(base));
    for (int64_t i = block; i < std::min(end, block + kBlock); i++, position += advance) {
      if (i < begin) continue;
      int64_t whole = static_cast<int64_t>(position);
      float fraction = (position - static_cast<float>(whole)) * kSteps;
      int step = std::clamp(static_cast<int>(fraction), 0, kSteps - 1);
      const float* row = filter.weights + static_cast<int64_t>(step) * filter.taps;
      int64_t first = base + whole - filter.lobes + 1;
      const float* window = edge;
      if (first >= 0 && first + filter.taps <= length)
        window = in + first;
      else
        for (int t = 0; t < filter.taps; t++) edge[t] = first + t >= 0 && first + t < length ? in[first + t] : 0;
      *out = blended_sum(window, row, row + filter.taps, fraction - static_cast<float>(step), filter.taps);
      out += out_step;
    }
  }
}

// The sinc function under a Hann window, which reaches 0 half a step beyond the last lobe.
double weight_at(double x, int lobes) {
  if (x == 0) return 1;
  if (std::abs(x) >= lobes) return 0;
  double angle = std::numbers::pi * x, half_width = lobes + 0.5 / ResamplingFilter::kSteps;
  return std::sin(angle) / angle * 0.5 * (1 + std::cos(angle / half_width));
}

}  // namespace

int resampling_lobes(double quality) {
  if (!(quality >= 0 && quality <= 100)) refuse("expected a resampling quality from 0 to 100, got ", quality);
  return static_cast<int>(std::lround((0.007 * quality - 0.09) * quality + 3));
}

int64_t resampled_length(int64_t length, double in_rate, double out_rate) {
  if (!(in_rate > 0 && out_rate > 0 && std::isfinite(in_rate) && std::isfinite(out_rate)))
    refuse("expected sample rates above 0, got ", in_rate, " Hz and ", out_rate, " Hz");
  constexpr double kMostRatio = 0x1p31;  // keeps positions in the signal exact
  double ratio = in_rate / out_rate;
  if (!(ratio <= kMostRatio && ratio >= 1 / kMostRatio))
    refuse("expected sample rates that differ by a factor of at most 2**31, got ", in_rate, " Hz and ", out_rate,
           " Hz");
  double resampled = std::ceil(static_cast<double>(length) * out_rate / in_rate);
  if (!(resampled < 0x1p53))
    refuse("a signal of ", length, " elements is too long to be resampled from ", in_rate, " Hz to ", out_rate, " Hz");
  return static_cast<int64_t>(resampled);
}

ResamplingFilter::ResamplingFilter(int lobes)
    : lobes_(lobes),
      taps_((2 * lobes + kLanes - 1) / kLanes * kLanes),
      weights_(static_cast<size_t>(taps_) * (kSteps + 1)) {
  for (int step = 0; step <= kSteps; step++)
    for (int t = 0; t < 2 * lobes; t++)
      weights_[static_cast<size_t>(step) * taps_ + t] =
          static_cast<float>(weight_at(t - lobes + 1 - static_cast<double>(step) / kSteps, lobes));
}

const ResamplingFilter& ResamplingFilter::shared(int lobes) {
  static constinit std::array<MadeOnce<const ResamplingFilter>, kMostLobes + 1> filters;
  return filters.at(static_cast<size_t>(lobes)).get([&] { return std::make_unique<const ResamplingFilter>(lobes); });
}

void ResamplingFilter::run(const float* in, int64_t length, double in_rate, double out_rate, int64_t begin, int64_t end,
                           float* out, int64_t out_step) const {
  resample({weights_.data(), lobes_, taps_}, in, length, in_rate / out_rate, begin, end, out, out_step);
}

}  // namespace avida
