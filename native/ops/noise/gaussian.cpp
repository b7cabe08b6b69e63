#include "ops/noise/gaussian.h"

#include <cmath>

#include "core/clones.h"
#include "ops/noise/byte_normals.h"
#include "ops/noise/noise.h"

namespace avida::ops {
namespace {

struct GaussianArgs {
  float mean = 0, stddev = 1;
};

template <class Real>
AVIDA_INLINE void add(Real* values, const RandomKey& key, int64_t first, int64_t n, const Normal<Real>& normal) {
  alignas(64) Real drawn[kDrawRow];
  draw_run(drawn, key, first, n, normal);
  for (int64_t i = 0; i < n; i++) values[i] += drawn[i];
}
AVIDA_CLONES void add_normal(float* values, const RandomKey& key, int64_t first, int64_t n, const Normal<float>& by) {
  add(values, key, first, n, by);
}
AVIDA_CLONES void add_normal(double* values, const RandomKey& key, int64_t first, int64_t n, const Normal<double>& by) {
  add(values, key, first, n, by);
}

template <class T>
void make_noisy(const Sample<GaussianArgs>& sample) {
  using Real = NoiseReal<T>;
  const Normal<Real> normal{sample.args.mean, sample.args.stddev};
  const int64_t elements = sample.out[0].elements();
  each_block<GaussianNoise<T, Real>, kPerBlock<Real>>(
      sample, elements, {sample.out[0].as<T>(), sample.in[0].as<T>(), elements, sample.random, normal}, [&] {
        change_rows<Real>(sample, [&](Real* values, int64_t first, int64_t n) {
          add_normal(values, sample.random, first, n, normal);
        });
      });
}

// The half of the normal distribution above zero, as lines between its quantiles.
NormalLines normal_lines() {
  // The number that a share of the half lies below, by bisection.
  auto quantile = [](double share) {
    double low = 0, high = 8;
    while (high - low > 1e-9) (std::erf((low + high) / 2 / std::sqrt(2.0)) < share ? low : high) = (low + high) / 2;
    return low;
  };
  // The last line ends where the mean of what is beyond its beginning is its middle, nearly.
  auto unit = [&](double share) { return quantile(std::min(share, 1 - 0x1p-13 / 3)) * (1 << kQuantileBits); };
  NormalLines lines;
  for (int last : {0, 1})
    for (int i = 0; i < kShares; i++) {
      const double step = last ? 1.0 / (kShares * kShares) : 1.0 / kShares, first = (last ? 63.0 / 64 : 0) + i * step;
      const long start = std::lround(unit(first)), end = std::lround(unit(first + step));
      lines.start[last][i] = static_cast<uint16_t>(start);
      lines.rise[last][i] = static_cast<uint16_t>(end - start);
    }
  return lines;
}
const NormalLines kNormalLines = normal_lines();

// None where sums could need more than 16 bits.
std::optional<ByteNoise> byte_noise(const GaussianArgs& args) {
  constexpr float most = 4.5f;  // that a number can be
  const float reach = 256 + std::fabs(args.mean) + most * std::fabs(args.stddev);
  for (int bits = 7; bits >= 4; bits--) {
    const float scale = std::ldexp(1.0f, bits), factor = args.stddev * scale * (1 << (15 - kQuantileBits));
    if (!(reach * scale < 32767 && std::fabs(factor) < 32767)) continue;
    return ByteNoise{bits, static_cast<short>(std::lround(factor)),
                     static_cast<short>(std::lround(args.mean * scale + scale / 2))};
  }
  return {};
}

void make_bytes_noisy(const Sample<GaussianArgs>& sample, const ByteNoise& noise) {
  const int64_t elements = sample.out[0].elements(), tiles = (elements + kNoiseTile - 1) / kNoiseTile;
  static_assert(kDrawRow % kNoiseTile == 0);
  const GaussianBytes::Params params{sample.out[0].as<uint8_t>(),
                                     sample.in[0].as<uint8_t>(),
                                     elements,
                                     sample.random,
                                     readable(sample.launches, &kNormalLines, 1),
                                     noise};
  each_item<GaussianBytes>(sample, 0, 16 * tiles, params, [&] {
    add_byte_noise(params, sample.begin * kDrawRow, std::min(sample.end * kDrawRow, elements));
  });
}

struct GaussianPlan : NoisePlan {
  void run(const Sample<GaussianArgs>& sample) const {
    if (sample.in[0].dtype == DType::uint8)
      if (const auto noise = byte_noise(sample.args)) return make_bytes_noisy(sample, *noise);
    with_noisy_type(sample.in[0].dtype, [&](auto type) { make_noisy<typename decltype(type)::type>(sample); });
  }
};

}  // namespace

AVIDA_OP_IN(noise, gaussian, GaussianArgs) {
  op.doc("Adds normally distributed numbers to the input.")
      .input("input", "The samples to add noise to.")
      .arg("mean", &GaussianArgs::mean, "The mean of the noise.")
      .arg("stddev", &GaussianArgs::stddev, "The standard deviation of the noise.")
      .per_frame()
      .example("avida.noise.gaussian(image, stddev=10)")
      .random()
      .infer(infer_noisy)
      .each_sample<GaussianPlan>()
      .cost(5);
}

}  // namespace avida::ops
