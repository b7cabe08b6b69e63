// scenes.move_points: positions, the first two numbers along the last axis; keypoints that change sides.
#include <numeric>

#include "ops/scenes/annotations.h"

namespace avida::ops {
namespace {

struct MovePointsArgs {
  std::vector<int> swap;
};

// Which point comes to each place where the image is mirrored.
std::vector<int64_t> mirrored_order(const std::vector<int>& pairs, int64_t points) {
  std::vector<int64_t> order(static_cast<size_t>(points));
  std::iota(order.begin(), order.end(), 0);
  for (int point : pairs)
    if (point < 0 || point >= points) refuse("expected numbers of keypoints below ", points, " in \"swap\", got ", point);
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) std::swap(order[pairs[i]], order[pairs[i + 1]]);
  return order;
}

bool mirrors(const Moves& moves) { return moves.m[0][0] * moves.m[1][1] - moves.m[0][1] * moves.m[1][0] < 0; }

class MovePointsPlan {
 public:
  explicit MovePointsPlan(const Sample<MovePointsArgs>& sample)
      : points_(sample.in[0]), moves_(moves_in(sample.in[1])) {
    const int axes = points_.ndim();
    if (axes < 2 || points_.shape[axes - 1] < 2)
      refuse("expected points as rows of at least two numbers, got the shape ", points_.shape);
    if (mirrors(moves_) && !sample.args.swap.empty())
      order_ = mirrored_order(sample.args.swap, points_.shape[axes - 2]);
  }

  Shape shape() const { return points_.shape; }
  void run(const Sample<MovePointsArgs>& sample) const {
    const int64_t step = points_.shape[points_.ndim() - 1], group = std::max<int64_t>(1, std::ssize(order_));
    const auto* in = points_.as<float>();
    auto* out = sample.out[0].as<float>();
    for (int64_t i = 0; i < points_.elements() / step; i++, out += step) {
      const float* from = in + step * (order_.empty() ? i : i - i % group + order_[static_cast<size_t>(i % group)]);
      const Position at = moved(moves_, from[0], from[1]);
      out[0] = static_cast<float>(at.x);
      out[1] = static_cast<float>(at.y);
      std::copy(from + 2, from + step, out + 2);
    }
  }

 private:
  const SampleView& points_;
  const Moves moves_;
  std::vector<int64_t> order_;
};

}  // namespace

AVIDA_OP_IN(scenes, move_points, MovePointsArgs) {
  op.doc("Moves points by a matrix.")
      .hidden()
      .input("points", "Rows of x, y and whatever belongs to a point.")
      .input("matrix", "Where positions go.")
      .arg("swap", &MovePointsArgs::swap, "Pairs of points that change places where the image is mirrored.", fixed)
      .infer([](Infer<MovePointsArgs>& call) {
        check_annotations(call.in[0], "points");
        check_matrix(call.in[1]);
        if (call.args.swap.size() % 2) refuse("expected pairs of keypoints in \"swap\", got ", call.args.swap.size());
      })
      .on_cpu()
      .each_sample<MovePointsPlan>();
}

}  // namespace avida::ops
