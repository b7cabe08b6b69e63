#include "ops/random/random.h"

namespace avida::ops {
namespace {

struct NormalArgs : DrawArgs {
  double mean = 0, stddev = 1;
};

template <class Real>
void draw_normal(const Sample<NormalArgs>& sample) {
  draw(sample, Normal<Real>{static_cast<Real>(sample.args.mean), static_cast<Real>(sample.args.stddev)});
}

struct NormalPlan : DrawPlan {
  void run(const Sample<NormalArgs>& sample) const {
    drawn_as_float(sample.out[0].dtype) ? draw_normal<float>(sample) : draw_normal<double>(sample);
  }
};

}  // namespace

AVIDA_OP_IN(random, normal, NormalArgs) {
  op.doc("Draws numbers from a normal distribution.")
      .optional_input("shape_like", kShapeLikeText)
      .arg("dtype", &NormalArgs::dtype, kDTypeText)
      .arg("mean", &NormalArgs::mean, "The mean of the distribution.")
      .arg("shape", &NormalArgs::shape, kShapeText)
      .arg("stddev", &NormalArgs::stddev, "The standard deviation of the distribution.")
      .example("avida.random.normal(mean=5, stddev=0.5, shape=[2, 3])")
      .draws_numbers()
      .infer([](Infer<NormalArgs>& call) { infer_drawn(call, DType::float32); })
      .each_sample<NormalPlan>()
      .cost(5);
}

}  // namespace avida::ops
