// `augment.elastic`, `augment.grid_distortion`, `augment.optical_distortion`.
#include "ops/augment/distortions.h"

#include <cmath>

#include "ops/augment/warped.h"
#include "ops/scenes/bends.h"

namespace avida::ops {
namespace {

struct ElasticArgs : WarpedArgs {
  float alpha = 50, sigma = 5;
};
struct GridDistortionArgs : WarpedArgs {
  float limit = 0.3f;
  int steps = 5;
  std::vector<float> steps_x, steps_y;
};
struct OpticalDistortionArgs : WarpedArgs {
  float k = 0.1f;
};

// Noise smoothed by a Gaussian of `sigma`: splines between nodes `sigma * sqrt(3)` apart have the same correlation, as
// the variance of a cubic B-spline is a third of the square of its step.
class ElasticParameters {
 public:
  explicit ElasticParameters(const Sample<ElasticArgs>& sample) {
    const ElasticArgs& args = sample.args;
    if (!(args.sigma >= 1 && args.sigma <= 1e6f)) refuse("expected a sigma from 1 to a million, got ", args.sigma);
    if (!std::isfinite(args.alpha)) refuse("expected a finite alpha, got ", args.alpha);
    per_pixel_ = static_cast<float>(1 / (args.sigma * std::sqrt(3.0)));
    rows_ = nodes_along(sample.in[0], 'H');
    columns_ = nodes_along(sample.in[0], 'W');
    // A uniform number from -1 to 1 at each pixel, smoothed, has the deviation deviation_of_one / (2 sigma sqrt(pi)).
    // The square of a B-spline has the integral 151 / 315.
    const double reach = args.alpha / (2 * args.sigma * std::sqrt(M_PI)) * (315.0 / 151);
    nodes_.resize(static_cast<size_t>(2 * rows_ * columns_));
    RandomStream random(sample.random);
    for (float& node : nodes_) node = static_cast<float>(reach * (static_cast<double>(random.next()) * 0x1p-31 - 1));
  }

  Elastic map(const Sample<ElasticArgs>& sample) const {
    return {readable(sample, nodes_), static_cast<int>(rows_), static_cast<int>(columns_), per_pixel_};
  }

 private:
  // One before the image and two behind it.
  int64_t nodes_along(const SampleView& in, char axis) const {
    return static_cast<int64_t>(static_cast<float>(extent_of(in, axis)) * per_pixel_) + 4;
  }

  float per_pixel_;
  int64_t rows_, columns_;
  std::vector<float> nodes_;
};

class GridDistortionParameters {
 public:
  explicit GridDistortionParameters(const Sample<GridDistortionArgs>& sample) {
    const GridDistortionArgs& args = sample.args;
    if (args.steps < 1 || args.steps > 1 << 16) refuse("expected from 1 to 65536 steps, got ", args.steps);
    if (!(args.limit >= 0 && args.limit < 1)) refuse("expected a limit from 0 to below 1, got ", args.limit);
    RandomStream random(sample.random);
    x_ = places("steps_x", factors(args, args.steps_x, random), extent_of(sample.in[0], 'W'));
    y_ = places("steps_y", factors(args, args.steps_y, random), extent_of(sample.in[0], 'H'));
  }

  GridDistortion map(const Sample<GridDistortionArgs>& sample) const {
    return {readable(sample, x_), readable(sample, y_)};
  }

 private:
  static std::vector<float> factors(const GridDistortionArgs& args, const std::vector<float>& given,
                                    RandomStream& random) {
    std::vector<float> drawn(args.steps);
    for (float& each : drawn)
      each = 1 + args.limit * static_cast<float>(static_cast<double>(random.next()) * 0x1p-31 - 1);
    return given.empty() ? drawn : given;
  }

  // Where each pixel along an axis comes from: cells of one size in the output, of sizes like `factors` in the input.
  static std::vector<float> places(const char* name, const std::vector<float>& factors, int64_t extent) {
    double sum = 0;
    for (float factor : factors) {
      if (!(factor > 0 && std::isfinite(factor))) refuse("expected numbers above 0 in \"", name, "\", got ", factor);
      sum += factor;
    }
    std::vector<float> places(extent);
    const double cells = static_cast<double>(factors.size()), scale = static_cast<double>(extent) / sum;
    size_t cell = 0;
    double before = 0;
    for (int64_t i = 0; i < extent; i++) {
      const double at = (static_cast<double>(i) + 0.5) * cells / static_cast<double>(extent);
      while (cell + 1 < factors.size() && at >= static_cast<double>(cell + 1)) before += factors[cell++];
      places[i] = static_cast<float>((before + (at - static_cast<double>(cell)) * factors[cell]) * scale);
    }
    return places;
  }

  std::vector<float> x_, y_;
};

struct OpticalDistortionParameters {
  OpticalDistortion lens;

  explicit OpticalDistortionParameters(const Sample<OpticalDistortionArgs>& sample) {
    if (!std::isfinite(sample.args.k)) refuse("expected a finite k, got ", sample.args.k);
    const float width = static_cast<float>(extent_of(sample.in[0], 'W')),
                height = static_cast<float>(extent_of(sample.in[0], 'H'));
    lens = {{{width / 2, height / 2}}, 1 / width, 1 / height, sample.args.k};
  }
  const OpticalDistortion& map(const Sample<OpticalDistortionArgs>&) const { return lens; }
};

}  // namespace

AVIDA_OP_IN(augment, elastic, ElasticArgs) {
  warps<ElasticParameters>(op)
      .doc(
          "Moves pixels by a smooth random field, as if images were on rubber. The field is uniform noise from -alpha "
          "to "
          "alpha pixels, smoothed with a Gaussian, and is one for all frames of a video.")
      .arg("alpha", &ElasticArgs::alpha, "How strong the noise is before it is smoothed, in pixels.")
      .arg("sigma", &ElasticArgs::sigma, "The standard deviation of the Gaussian in pixels, at least 1.")
      .random()
      .example("avida.augment.elastic(image, alpha=300, sigma=10)");
}

AVIDA_BENDS_IN(augment, elastic, ElasticArgs, ElasticParameters)

AVIDA_OP_IN(augment, grid_distortion, GridDistortionArgs) {
  using Args = GridDistortionArgs;
  warps<GridDistortionParameters>(op)
      .doc("Stretches some rows and columns of a grid over images, and squeezes others. Borders stay where they are.")
      .arg("limit", &Args::limit, "Each row and column of the grid is drawn from 1 - limit to 1 + limit times as wide.")
      .arg("steps", &Args::steps, "How many columns and rows the grid has.")
      .arg("steps_x", &Args::steps_x, "The widths of the columns in relation to each other, instead of drawn ones.")
      .arg("steps_y", &Args::steps_y, "The same for the heights of rows.")
      .random()
      .example("avida.augment.grid_distortion(image, limit=0.6)");
}

AVIDA_BENDS_IN(augment, grid_distortion, GridDistortionArgs, GridDistortionParameters)

AVIDA_OP_IN(augment, optical_distortion, OpticalDistortionArgs) {
  warps<OpticalDistortionParameters>(op)
      .doc("Distorts images as a lens does: barrels for k above 0, cushions below.")
      .arg("k", &OpticalDistortionArgs::k, "Both coefficients of the lens, in units of width and height.")
      .example("avida.augment.optical_distortion(image, k=0.8)");
}

AVIDA_BENDS_IN(augment, optical_distortion, OpticalDistortionArgs, OpticalDistortionParameters)

}  // namespace avida::ops
