// scenes.move_points: positions, the first two numbers along the last axis; scenes.swap_points: keypoints that change
// sides.
#include <numeric>

#include "ops/scenes/annotations.h"

namespace avida::ops {
namespace {

struct SwapPointsArgs {
  std::vector<int> swap;
};

void check_points(const SampleView& points) {
  const int axes = points.ndim();
  if (axes < 2 || points.shape[axes - 1] < 2)
    refuse("expected points as rows of at least two numbers, got the shape ", points.shape);
}

// Which point comes to each place where the image is mirrored.
std::vector<int64_t> mirrored_order(const std::vector<int>& pairs, int64_t points) {
  std::vector<int64_t> order(static_cast<size_t>(points));
  std::iota(order.begin(), order.end(), 0);
  for (int point : pairs)
    if (point < 0 || point >= points)
      refuse("expected numbers of keypoints below ", points, " in \"swap\", got ", point);
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) std::swap(order[pairs[i]], order[pairs[i + 1]]);
  return order;
}

bool mirrors(const Moves& moves) { return moves.m[0][0] * moves.m[1][1] - moves.m[0][1] * moves.m[1][0] < 0; }

struct MovePointsPlan {
  explicit MovePointsPlan(const Sample<NoArgs>& sample) { check_points(sample.in[0]); }
  void run(const Sample<NoArgs>& sample) const {
    const SampleView& points = sample.in[0];
    const Moves moves = moves_in(sample.in[1]);
    const int64_t step = points.shape[points.ndim() - 1];
    const auto* in = points.as<float>();
    auto* out = sample.out[0].as<float>();
    for (int64_t i = 0; i < points.elements(); i += step) {
      const Position at = moved(moves, in[i], in[i + 1]);
      out[i] = static_cast<float>(at.x);
      out[i + 1] = static_cast<float>(at.y);
      std::copy(in + i + 2, in + i + step, out + i + 2);
    }
  }
};

class SwapPointsPlan {
 public:
  explicit SwapPointsPlan(const Sample<SwapPointsArgs>& sample) : points_(sample.in[0]) {
    check_points(points_);
    const int64_t points = points_.shape[points_.ndim() - 2];
    order_ = mirrored_order(mirrors(moves_in(sample.in[1])) ? sample.args.swap : std::vector<int>{}, points);
  }

  void run(const Sample<SwapPointsArgs>& sample) const {
    const int64_t step = points_.shape[points_.ndim() - 1], object = step * std::ssize(order_);
    auto* out = sample.out[0].as<float>();
    for (int64_t first = 0; first < points_.elements(); first += object)
      for (int64_t from : order_) out = std::copy_n(points_.as<float>() + first + from * step, step, out);
  }

 private:
  const SampleView& points_;
  std::vector<int64_t> order_;
};

}  // namespace

AVIDA_OP_IN(scenes, move_points, NoArgs) {
  op.doc("Moves points by a matrix.")
      .hidden()
      .input("points", "Rows of x, y and whatever belongs to a point.")
      .input("matrix", "Where positions go.")
      .infer([](Infer<NoArgs>& call) {
        check_annotations(call.in[0], "points");
        check_matrix(call.in[1]);
      })
      .on_cpu()
      .each_sample<MovePointsPlan>();
}

AVIDA_OP_IN(scenes, swap_points, SwapPointsArgs) {
  op.doc("Exchanges points where a matrix mirrors.")
      .hidden()
      .input("points", "For each object rows of x, y and whatever belongs to a point.")
      .input("matrix", "Where positions go.")
      .arg("swap", &SwapPointsArgs::swap, "Pairs of points that change places.", fixed)
      .infer([](Infer<SwapPointsArgs>& call) {
        check_annotations(call.in[0], "points");
        check_matrix(call.in[1]);
        if (call.args.swap.size() % 2) refuse("expected pairs of keypoints in \"swap\", got ", call.args.swap.size());
      })
      .on_cpu()
      .each_sample<SwapPointsPlan>();
}

}  // namespace avida::ops
