#include "ops/noise/gaussian.h"

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

struct GaussianPlan : NoisePlan {
  void run(const Sample<GaussianArgs>& sample) const {
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
