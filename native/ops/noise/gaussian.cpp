#include "core/clones.h"
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

template <class Real>
void make_noisy(const Sample<GaussianArgs>& sample) {
  const Normal<Real> normal{sample.args.mean, sample.args.stddev};
  change_rows<Real>(
      sample, [&](Real* values, int64_t first, int64_t n) { add_normal(values, sample.random, first, n, normal); });
}

}  // namespace

AVIDA_OP_IN(noise, gaussian, GaussianArgs) {
  op.doc("Adds normally distributed numbers to the input.")
      .input("input", "The samples to make noisy.")
      .arg("mean", &GaussianArgs::mean, "The mean of the noise.")
      .arg("stddev", &GaussianArgs::stddev, "The standard deviation of the noise.")
      .per_frame()
      .example("avida.noise.gaussian(image, stddev=10)")
      .random()
      .infer(infer_noisy)
      .each_sample(noisy_shape,
                   [](const Sample<GaussianArgs>& sample) {
                     fits_float(sample.in[0].dtype) ? make_noisy<float>(sample) : make_noisy<double>(sample);
                   })
      .rows(noisy_rows)
      .cost(5);
}

}  // namespace avida::ops
