// scenes.move_rotated: boxes of any direction: centre x and y, width, height, degrees counter-clockwise.
#include <cmath>

#include "ops/scenes/annotations.h"

namespace avida::ops {
namespace {

struct Vector {
  double x, y;

  double length() const { return std::hypot(x, y); }
};
double along(const Vector& a, const Vector& unit) { return a.x * unit.x + a.y * unit.y; }
double across(const Vector& a, const Vector& unit) { return a.x * unit.y - a.y * unit.x; }

// The smaller one of the two rectangles around a parallelogram that share a side with it. Maps that keep right angles
// make rectangles, which are both.
void around(const Vector& width, const Vector& height, float* box) {
  const double w = width.length(), h = height.length();
  if (!(w > 0 && h > 0)) {
    box[2] = static_cast<float>(w);
    box[3] = static_cast<float>(h);
    return;
  }
  const Vector right{width.x / w, width.y / w}, down{height.x / h, height.y / h};
  const double wide = w + std::fabs(along(height, right)), low = std::fabs(across(height, right));
  const double high = h + std::fabs(along(width, down)), narrow = std::fabs(across(width, down));
  Vector direction = right;
  double extents[] = {wide, low};
  if (high * narrow < wide * low) {
    direction = {down.y, -down.x};
    if (along(width, direction) < 0) direction = {-down.y, down.x};
    extents[0] = narrow, extents[1] = high;
  }
  for (int i : {0, 1}) box[2 + i] = static_cast<float>(extents[i]);
  box[4] = static_cast<float>(std::atan2(-direction.y, direction.x) * (180 / M_PI));
}

void move(const Moves& moves, const float* from, float* to) {
  const double angle = from[4] * (M_PI / 180), c = std::cos(angle), s = std::sin(angle);
  auto corner = [&](double x, double y) {  // in halves of the extents
    const double right = x * from[2] / 2, down = y * from[3] / 2;
    return moved(moves, from[0] + right * c + down * s, from[1] - right * s + down * c);
  };
  const Position a = corner(-1, -1), b = corner(1, -1), d = corner(1, 1), e = corner(-1, 1);
  to[0] = static_cast<float>((a.x + b.x + d.x + e.x) / 4);
  to[1] = static_cast<float>((a.y + b.y + d.y + e.y) / 4);
  to[4] = from[4];
  around({(b.x - a.x + d.x - e.x) / 2, (b.y - a.y + d.y - e.y) / 2},
         {(e.x - a.x + d.x - b.x) / 2, (e.y - a.y + d.y - b.y) / 2}, to);
}

struct MoveRotatedPlan {
  explicit MoveRotatedPlan(const Sample<NoArgs>& sample) { check_rows(sample.in[0], 5, "rotated boxes"); }
  void run(const Sample<NoArgs>& sample) const {
    const Moves moves = moves_in(sample.in[1]);
    for (int64_t i = 0; i < sample.in[0].shape[0]; i++)
      move(moves, sample.in[0].as<float>() + 5 * i, sample.out[0].as<float>() + 5 * i);
  }
};

}  // namespace

AVIDA_OP_IN(scenes, move_rotated, NoArgs) {
  op.doc("Moves rotated boxes by a matrix.")
      .hidden()
      .input("rotated", "Rows of centre x, centre y, width, height, angle.")
      .input("matrix", "Where positions go.")
      .infer([](Infer<NoArgs>& call) {
        check_annotations(call.in[0], "rotated boxes");
        check_matrix(call.in[1]);
      })
      .on_cpu()
      .each_sample<MoveRotatedPlan>();
}

}  // namespace avida::ops
