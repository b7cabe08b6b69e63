#include <cmath>

#include "ops/random/random.h"

namespace avida::ops {
namespace {

struct BetaArgs : DrawArgs {
  double alpha = 1, beta = 1;
};

// Beyond these, rounding errors decide about attempts, and none might ever succeed.
constexpr double kSmallest = 1e-200, kLargest = 1e12;

double checked(double number, const char* name) {
  if (!(number > 0 && std::isfinite(number))) refuse("expected a positive number for \"", name, "\", got ", number);
  if (number < kSmallest || number > kLargest)
    refuse("expected a number from ", kSmallest, " to ", kLargest, " for \"", name, "\", got ", number);
  return number;
}

struct BetaPlan : DrawPlan {
  explicit BetaPlan(const Sample<BetaArgs>& sample)
      : beta{checked(sample.args.alpha, "alpha"), checked(sample.args.beta, "beta")} {}

  void run(const Sample<BetaArgs>& sample) const { draw(sample, beta); }

  const Beta beta;
};

}  // namespace

AVIDA_OP_IN(random, beta, BetaArgs) {
  op.doc("Draws numbers from a beta distribution, from 0 to 1.")
      .optional_input("shape_like", kShapeLikeText)
      .arg("alpha", &BetaArgs::alpha, "The positive parameter alpha; larger values give numbers closer to 1.")
      .arg("beta", &BetaArgs::beta, "The positive parameter beta; larger values give numbers closer to 0.")
      .arg("dtype", &BetaArgs::dtype, "The element type, a floating point type; `float32` by default.")
      .arg("shape", &BetaArgs::shape, kShapeText)
      .example("avida.random.beta(alpha=0.2, beta=0.2, shape=[4])")
      .draws_numbers()
      .infer([](Infer<BetaArgs>& call) {
        infer_drawn(call, DType::float32);
        if (!is_float(call.out[0].dtype)) refuse("expected a float type as \"dtype\", got ", call.out[0].dtype);
      })
      .each_sample<BetaPlan>()
      .cost(40);
}

}  // namespace avida::ops
