#include "core/clones.h"
#include "ops/random/random.h"

namespace avida::ops {
namespace {

struct NormalArgs : DrawArgs {
  double mean = 0, stddev = 1;
};

AVIDA_CLONES void draw(float* out, const RandomKey& key, int64_t first, int64_t n, const Normal<float>& normal) {
  draw_run(out, key, first, n, normal);
}
AVIDA_CLONES void draw(double* out, const RandomKey& key, int64_t first, int64_t n, const Normal<double>& normal) {
  draw_run(out, key, first, n, normal);
}

template <class Real>
void fill(const Sample<NormalArgs>& sample) {
  const Normal<Real> normal{static_cast<Real>(sample.args.mean), static_cast<Real>(sample.args.stddev)};
  if (sample.launches) return launch_draw(sample, normal);
  fill_drawn<Real>(sample.out[0], sample.begin, sample.end,
                   [&](Real* out, int64_t first, int64_t n) { draw(out, sample.random, first, n, normal); });
}

}  // namespace

AVIDA_OP_IN(random, normal, NormalArgs) {
  op.doc("Draws numbers from a normal distribution.")
      .optional_input("shape_like", kShapeLikeText)
      .arg("dtype", &NormalArgs::dtype, kDTypeText)
      .arg("mean", &NormalArgs::mean, "The mean of the distribution.")
      .arg("shape", &NormalArgs::shape, kShapeText)
      .arg("stddev", &NormalArgs::stddev, "The standard deviation of the distribution.")
      .example("avida.random.normal(mean=5, stddev=0.5, shape=[2, 3])")
      .random()
      .infer([](Infer<NormalArgs>& call) { infer_drawn(call, DType::float32); })
      .each_sample(
          [](Sample<NormalArgs>& sample) { sample.out[0].shape = drawn_shape(sample.args.shape, sample.in[0]); },
          [](const Sample<NormalArgs>& sample) {
            drawn_as_float(sample.out[0].dtype) ? fill<float>(sample) : fill<double>(sample);
          })
      .rows(count_draw_rows)
      .cost(5)
      .on_gpu();
}

}  // namespace avida::ops
