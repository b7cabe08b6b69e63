#include <cmath>

#include "ops/random/random.h"

namespace avida::ops {
namespace {

struct UniformArgs : DrawArgs {
  std::optional<Vec<double>> range;
  std::optional<std::vector<double>> values;

  double low() const { return range ? (*range)[0] : -1; }
  double high() const { return range ? (*range)[range->size() - 1] : 1; }
};

template <class Real>
void from_range(const Sample<UniformArgs>& sample) {
  constexpr double most = std::numeric_limits<Real>::max();
  const Real low = static_cast<Real>(std::clamp(sample.args.low(), -most, most));
  const Real high = static_cast<Real>(std::clamp(sample.args.high(), -most, most));
  draw(sample, Uniform<Real>{low / 2, high / 2 - low / 2, std::nextafter(high, low)});
}

struct UniformPlan : DrawPlan {
  explicit UniformPlan(const Sample<UniformArgs>& sample) {
    const UniformArgs& args = sample.args;
    if (args.values) {
      if (args.values->empty()) refuse("expected at least one number in \"values\", got none");
    } else {
      if (args.range && args.range->size() != 2) refuse("expected two numbers for \"range\", got ", args.range->size());
      if (!(args.low() < args.high()))
        refuse("expected a range that ends after its start, got [", args.low(), ", ", args.high(), ")");
    }
  }

  void run(const Sample<UniformArgs>& sample) const {
    if (sample.args.values)
      draw(sample, Chosen{readable(sample, *sample.args.values), std::ssize(*sample.args.values)});
    else if (drawn_as_float(sample.out[0].dtype))
      from_range<float>(sample);
    else
      from_range<double>(sample);
  }
};

}  // namespace

AVIDA_OP_IN(random, uniform, UniformArgs) {
  op.doc("Draws uniformly distributed numbers from a range, or from a list.")
      .optional_input("shape_like", kShapeLikeText)
      .arg("dtype", &UniformArgs::dtype, kDTypeText)
      .arg("range", &UniformArgs::range, "The start and the end of the range; the end is excluded. Default: -1 to 1.")
      .arg("shape", &UniformArgs::shape, kShapeText)
      .arg("values", &UniformArgs::values, "The numbers to choose from; `range` has no effect then.", takes_nan)
      .example("avida.random.uniform(range=[0, 10], shape=[2, 3])")
      .draws_numbers()
      .infer([](Infer<UniformArgs>& call) { infer_drawn(call, DType::float32); })
      .each_sample<UniformPlan>()
      .cost(2);
}

}  // namespace avida::ops
