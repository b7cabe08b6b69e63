// `augment.thin_plate_spline`: moves some points of images, and what is between them smoothly.
#include <array>
#include <cmath>

#include "core/clones.h"
#include "device/portable_math.h"
#include "ops/augment/distortions.h"
#include "ops/augment/warped.h"
#include "ops/random/distributions.h"

namespace avida::ops {
namespace {

struct ThinPlateArgs : WarpedArgs {
  std::vector<float> moves_x, moves_y;
  int points = 4;
  float scale = 0.03f;
};

// The squared distance times its logarithm, of which a constant factor belongs to the weights.
AVIDA_HD AVIDA_INLINE double bend(double dx, double dy) {
  const double square = dx * dx + dy * dy + 1e-30;
  return square * portable::log(square);
}

struct ControlPoint {
  double x, y;
  std::array<double, 2> weight;  // along x and along y
};

// Moves, at places from 0 to 1 along both axes, that points have and bend as little as possible between them.
class ThinPlate {
 public:
  explicit ThinPlate(std::vector<ControlPoint> points) : points_(std::move(points)) {
    const size_t n = points_.size(), all = n + 3;
    std::vector<double> a(all * (all + 2));
    auto at = [&](size_t row, size_t column) -> double& { return a[row * (all + 2) + column]; };
    for (size_t i = 0; i < n; i++) {
      for (size_t k = 0; k < n; k++) at(i, k) = bend(points_[i].x - points_[k].x, points_[i].y - points_[k].y);
      const double affine[3] = {1, points_[i].x, points_[i].y};
      for (size_t k = 0; k < 3; k++) at(i, n + k) = at(n + k, i) = affine[k];
      for (size_t k = 0; k < 2; k++) at(i, all + k) = points_[i].weight[k];
    }
    solve(at, all);
    for (size_t i = 0; i < n; i++) points_[i].weight = {at(i, all), at(i, all + 1)};
    for (size_t k = 0; k < 3; k++) affine_[k] = {at(n + k, all), at(n + k, all + 1)};
  }

  // At n places along a row.
  AVIDA_CLONES void run(const double* x, double y, size_t n, double* to_x, double* to_y) const {
    for (size_t i = 0; i < n; i++) {
      to_x[i] = affine_[0][0] + affine_[1][0] * x[i] + affine_[2][0] * y;
      to_y[i] = affine_[0][1] + affine_[1][1] * x[i] + affine_[2][1] * y;
    }
    for (const ControlPoint& point : points_) {
      const double px = point.x, dy = y - point.y, wx = point.weight[0], wy = point.weight[1];
      for (size_t i = 0; i < n; i++) {
        const double height = bend(x[i] - px, dy);
        to_x[i] += wx * height;
        to_y[i] += wy * height;
      }
    }
  }

 private:
  // Gauss' elimination with pivots; the solutions take the place of the two columns on the right.
  template <class At>
  static void solve(At&& at, size_t n) {
    for (size_t i = 0; i < n; i++) {
      size_t pivot = i;
      for (size_t k = i + 1; k < n; k++)
        if (std::fabs(at(k, i)) > std::fabs(at(pivot, i))) pivot = k;
      for (size_t c = 0; c < n + 2; c++) std::swap(at(i, c), at(pivot, c));
      for (size_t k = 0; k < n; k++) {
        if (k == i) continue;
        const double factor = at(k, i) / at(i, i);
        for (size_t c = i; c < n + 2; c++) at(k, c) -= factor * at(i, c);
      }
    }
    for (size_t i = 0; i < n; i++)
      for (size_t c = n; c < n + 2; c++) at(i, c) /= at(i, i);
  }

  std::vector<ControlPoint> points_;
  std::array<std::array<double, 2>, 3> affine_;
};

// The moves at nodes of a grid; between them cubic B-splines, whose coefficients make up for their smoothing.
class ThinPlateParameters {
 public:
  static constexpr int kStep = 8;  // pixels

  explicit ThinPlateParameters(const Sample<ThinPlateArgs>& sample)
      : width_(extent_of(sample.in[0], 'W')), height_(extent_of(sample.in[0], 'H')) {
    rows_ = height_ / kStep + 4;
    columns_ = width_ / kStep + 4;
    nodes_.resize(static_cast<size_t>(2 * rows_ * columns_));
    const ThinPlate plate(points_of(sample));
    const auto n = static_cast<size_t>(columns_ + 2);
    std::vector<double> x(n), moves[2];
    for (size_t i = 0; i < n; i++) x[i] = (static_cast<double>(i) - 2) * kStep / static_cast<double>(width_);
    for (auto& each : moves) each.resize(n * static_cast<size_t>(rows_ + 2));
    for (int64_t row = 0; row < rows_ + 2; row++)
      plate.run(x.data(), (static_cast<double>(row) - 2) * kStep / static_cast<double>(height_), n,
                moves[0].data() + row * static_cast<int64_t>(n), moves[1].data() + row * static_cast<int64_t>(n));
    set_nodes(moves[0], static_cast<double>(width_), nodes_.data());
    set_nodes(moves[1], static_cast<double>(height_), nodes_.data() + rows_ * columns_);
  }

  Elastic map(const Sample<ThinPlateArgs>& sample) const {
    return {readable(sample, nodes_), static_cast<int>(rows_), static_cast<int>(columns_), 1.0f / kStep};
  }

 private:
  // A grid of points, the outermost ones on the border.
  static std::vector<ControlPoint> points_of(const Sample<ThinPlateArgs>& sample) {
    const ThinPlateArgs& args = sample.args;
    if (args.points < 2 || args.points > 10) refuse("expected from 2 to 10 points, got ", args.points);
    if (!(args.scale >= 0 && args.scale <= 1)) refuse("expected a scale from 0 to 1, got ", args.scale);
    const int count = args.points * args.points;
    for (const auto& moves : {args.moves_x, args.moves_y}) {
      if (!moves.empty() && std::ssize(moves) != count)
        refuse("expected ", count, " numbers as moves of ", args.points, " x ", args.points, " points, got ",
               moves.size());
      for (float move : moves)
        if (!(std::fabs(move) <= 10)) refuse("expected moves from -10 to 10, got ", move);
    }
    std::vector<ControlPoint> points;
    for (int i = 0; i < count; i++) {
      float drawn[4];
      normals(random_block(sample.random, static_cast<unsigned>(i)), drawn);
      const bool given = !args.moves_x.empty() || !args.moves_y.empty();
      auto move = [&](const std::vector<float>& moves, float normal) {
        return static_cast<double>(given ? (moves.empty() ? 0 : moves[i]) : normal * args.scale);
      };
      points.push_back({static_cast<double>(i % args.points) / (args.points - 1),
                        static_cast<double>(i / args.points) / (args.points - 1),
                        {move(args.moves_x, drawn[0]), move(args.moves_y, drawn[1])}});
    }
    return points;
  }

  void set_nodes(const std::vector<double>& moves, double extent, float* nodes) const {
    const int64_t n = columns_ + 2;
    for (int64_t row = 0; row < rows_; row++)
      for (int64_t column = 0; column < columns_; column++) {
        auto along = [&](int64_t down) {
          const double* at = moves.data() + (row + down) * n + column;
          return (8 * at[1] - at[0] - at[2]) / 6;
        };
        nodes[row * columns_ + column] = static_cast<float>((8 * along(1) - along(0) - along(2)) / 6 * extent);
      }
  }

  const int64_t width_, height_;
  int64_t rows_, columns_;
  std::vector<float> nodes_;
};

}  // namespace

AVIDA_OP_IN(augment, thin_plate_spline, ThinPlateArgs) {
  using Args = ThinPlateArgs;
  warps<ThinPlateParameters>(op)
      .doc(
          "Bends images as a thin plate, by random moves of the points of a grid. The moves are those from the output "
          "to "
          "the input.")
      .arg("moves_x", &Args::moves_x, "How far each point moves, as a share of the width, row by row.")
      .arg("moves_y", &Args::moves_y, "The same as a share of the height.")
      .arg("points", &Args::points, "How many points the grid has along each axis.")
      .arg("scale", &Args::scale, "The standard deviation of random moves, as a share of the extents.")
      .random()
      .example("avida.augment.thin_plate_spline(image, scale=0.06)");
}

}  // namespace avida::ops
