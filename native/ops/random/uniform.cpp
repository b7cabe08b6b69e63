#include <cmath>

#include "core/clones.h"
#include "ops/random/random.h"

namespace avida::ops {
namespace {

struct UniformArgs : DrawArgs {
  std::optional<Vec<double>> range;
  std::optional<std::vector<double>> values;

  double low() const { return range ? (*range)[0] : -1; }
  double high() const { return range ? (*range)[range->size() - 1] : 1; }
};

AVIDA_CLONES void draw(float* out, const RandomKey& key, int64_t first, int64_t n, const Uniform<float>& uniform) {
  draw_run(out, key, first, n, uniform);
}
AVIDA_CLONES void draw(double* out, const RandomKey& key, int64_t first, int64_t n, const Uniform<double>& uniform) {
  draw_run(out, key, first, n, uniform);
}

template <class Real>
void from_range(const Sample<UniformArgs>& sample) {
  constexpr double most = std::numeric_limits<Real>::max();
  const Real low = static_cast<Real>(std::clamp(sample.args.low(), -most, most));
  const Real high = static_cast<Real>(std::clamp(sample.args.high(), -most, most));
  const Uniform<Real> uniform{low / 2, high / 2 - low / 2, std::nextafter(high, low)};
  if (sample.launches) return launch_draw(sample, uniform);
  fill_drawn<Real>(sample.out[0], sample.begin, sample.end,
                   [&](Real* out, int64_t first, int64_t n) { draw(out, sample.random, first, n, uniform); });
}

void from_values(const Sample<UniformArgs>& sample) {
  const std::vector<double>& values = *sample.args.values;
  if (sample.launches) {
    const int64_t count = std::ssize(values);
    const double* numbers = readable(sample.launches, values.data(), count);
    return sample.launches->add<ChosenNumber>(
        0, sample.out[0].elements(),
        {sample.out[0].data, static_cast<int>(sample.out[0].dtype), sample.random, numbers, count});
  }
  fill_drawn<double>(sample.out[0], sample.begin, sample.end, [&](double* out, int64_t first, int64_t n) {
    int64_t indices[kDrawRow];
    draw_indices(indices, sample.random, first, n, static_cast<int64_t>(values.size()));
    for (int64_t i = 0; i < n; i++) out[i] = values[indices[i]];
  });
}

void check(Sample<UniformArgs>& sample) {
  const UniformArgs& args = sample.args;
  if (args.values) {
    if (args.values->empty()) fail(ErrorKind::runtime, "expected at least one number in \"values\", got none");
  } else {
    if (args.range && args.range->size() != 2)
      fail(ErrorKind::runtime, "expected two numbers for \"range\", got ", args.range->size());
    if (!(args.low() < args.high()))
      fail(ErrorKind::runtime, "expected a range that ends after its start, got [", args.low(), ", ", args.high(), ")");
  }
  sample.out[0].shape = drawn_shape(args.shape, sample.in[0]);
}

}  // namespace

AVIDA_OP_IN(random, uniform, UniformArgs) {
  op.doc("Draws numbers of which each is equally likely, from a range or from a list.")
      .optional_input("shape_like", kShapeLikeText)
      .arg("dtype", &UniformArgs::dtype, kDTypeText)
      .arg("range", &UniformArgs::range, "Where the numbers start and end; the end does not occur. Default: -1 to 1.")
      .arg("shape", &UniformArgs::shape, kShapeText)
      .arg("values", &UniformArgs::values, "The numbers to choose from; then `range` has no effect.", takes_nan)
      .example("avida.random.uniform(range=[0, 10], shape=[2, 3])")
      .random()
      .infer([](Infer<UniformArgs>& call) { infer_drawn(call, DType::float32); })
      .each_sample(check,
                   [](const Sample<UniformArgs>& sample) {
                     if (sample.args.values)
                       from_values(sample);
                     else if (drawn_as_float(sample.out[0].dtype))
                       from_range<float>(sample);
                     else
                       from_range<double>(sample);
                   })
      .rows(count_draw_rows)
      .cost(2)
      .on_gpu();
}

}  // namespace avida::ops
