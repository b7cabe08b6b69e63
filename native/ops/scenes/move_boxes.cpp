// scenes.move_boxes: boxes around what their objects become; scenes.boxes_of_masks: around what their masks are.
#include <cmath>

#include "ops/scenes/object_masks.h"

namespace avida::ops {
namespace {

// What of a box the object fills, where no mask tells.
enum class BoxShape { corners, ellipse };
AVIDA_CHOICES(BoxShape, "corners", "ellipse")

struct MoveBoxesArgs {
  BoxShape around = BoxShape::corners;
};

bool keeps_axes(const Moves& moves) {
  const auto& m = moves.m;
  const bool affine = m[2][0] == 0 && m[2][1] == 0;
  return affine && ((m[0][1] == 0 && m[1][0] == 0) || (m[0][0] == 0 && m[1][1] == 0));
}

// Of a box that crosses the horizon of a perspective, the part before it. One behind it comes far away.
Around moved_corners(const Moves& moves, const float* box) {
  Polygon corners;
  double depths[2] = {INFINITY, -INFINITY};
  for (auto [x, y] : {std::pair(0, 1), {2, 1}, {2, 3}, {0, 3}}) {
    corners.corners.push_back({box[x], box[y]});
    const double depth = depth_of(moves, box[x], box[y]);
    depths[0] = std::min(depths[0], depth), depths[1] = std::max(depths[1], depth);
  }
  Around around;
  if (!(depths[1] > 0)) {
    around.add(moved(moves, box[0], box[1]));
    return around;
  }
  const double least = depths[1] * 1e-5;
  if (depths[0] < least) corners.cut([&](const Position& at) { return depth_of(moves, at.x, at.y) - least; });
  for (const Position& at : corners.corners) around.add(moved(moves, at.x, at.y));
  return around;
}

// Around the ellipse in a box: its lines are those x for which x' C x = 0, of the matrix C of the moved dual conic.
std::optional<Around> moved_ellipse(const Moves& moves, const float* box) {
  const double centre[] = {0.5 * (static_cast<double>(box[0]) + box[2]), 0.5 * (static_cast<double>(box[1]) + box[3])};
  const double radius[] = {0.5 * (static_cast<double>(box[2]) - box[0]), 0.5 * (static_cast<double>(box[3]) - box[1])};
  Moves placed;
  for (int axis : {0, 1}) placed.scale(axis, radius[axis]), placed.shift(axis, centre[axis]);
  const Moves from = product(moves, placed);  // of the circle around 0
  auto conic = [&](int r, int c) {
    return from.m[r][0] * from.m[c][0] + from.m[r][1] * from.m[c][1] - from.m[r][2] * from.m[c][2];
  };
  const double whole = conic(2, 2);
  if (!(whole < 0 && from.m[2][2] > 0)) return std::nullopt;  // it crosses the horizon
  double ends[2][2];
  for (int axis : {0, 1}) {
    const double middle = conic(axis, 2) / whole;
    const double reach = std::sqrt(std::max(0.0, middle * middle - conic(axis, axis) / whole));
    ends[axis][0] = middle - reach, ends[axis][1] = middle + reach;
  }
  return Around{ends[0][0], ends[1][0], ends[0][1], ends[1][1]};
}

Around around_mask(const ObjectMasks& masks, int64_t object, const Moves& moves) {
  Around around;
  masks.each_end(object, [&](double x, double y) { around.add(moved(moves, x, y)); });
  return around;
}

class MoveBoxesPlan {
 public:
  explicit MoveBoxesPlan(const Sample<MoveBoxesArgs>& sample) : boxes_(sample.in[0]) {
    check_rows(boxes_, 4, "boxes");
    if (sample.in[2].data) masks_.emplace(sample.in[2]);
    if (masks_ && masks_->objects() != boxes_.shape[0])
      refuse("expected ", boxes_.shape[0], " masks, one for each box, got ", masks_->objects());
  }

  Shape shape() const { return boxes_.shape; }
  int64_t rows() const { return boxes_.shape[0]; }
  void run(const Sample<MoveBoxesArgs>& sample) const {
    const Moves moves = moves_in(sample.in[1]);
    for (int64_t i = sample.begin; i < sample.end; i++)
      around(moves, sample.args.around, i).store(sample.out[0].as<float>() + 4 * i);
  }

 private:
  Around around(const Moves& moves, BoxShape shape, int64_t i) const {
    const float* box = boxes_.as<float>() + 4 * i;
    if (keeps_axes(moves)) return moved_corners(moves, box);
    if (masks_ && has_all_of(*masks_, i, box)) {
      const Around tight = around_mask(*masks_, i, moves);
      if (tight.left <= tight.right) return tight;
    }
    if (shape == BoxShape::ellipse)
      if (const auto tight = moved_ellipse(moves, box)) return *tight;
    return moved_corners(moves, box);
  }

  const SampleView& boxes_;
  std::optional<ObjectMasks> masks_;
};

// Objects without a pixel have boxes of no extents.
struct BoxesOfMasksPlan {
  const ObjectMasks masks;

  explicit BoxesOfMasksPlan(const Sample<NoArgs>& sample) : masks(sample.in[0]) {}
  Shape shape() const { return {masks.objects(), 4}; }
  int64_t rows() const { return masks.objects(); }
  void run(const Sample<NoArgs>& sample) const {
    for (int64_t i = sample.begin; i < sample.end; i++) {
      Around around = around_mask(masks, i, {});
      if (!(around.left <= around.right)) around = {0, 0, 0, 0};
      around.store(sample.out[0].as<float>() + 4 * i);
    }
  }
};

}  // namespace

AVIDA_OP_IN(scenes, move_boxes, MoveBoxesArgs) {
  op.doc("Moves boxes by a matrix.")
      .hidden()
      .input("boxes", "Rows of left, top, right, bottom.")
      .input("matrix", "Where positions go.")
      .optional_input("masks", "The masks of the objects, for tight boxes.")
      .arg("around", &MoveBoxesArgs::around, "What of a box the object fills, without masks.", fixed)
      .infer([](Infer<MoveBoxesArgs>& call) {
        check_annotations(call.in[0], "boxes");
        check_matrix(call.in[1]);
        check_masks(call.in[2]);
      })
      .on_cpu()
      .each_sample<MoveBoxesPlan>()
      .cost(8);
}

AVIDA_OP_IN(scenes, boxes_of_masks, NoArgs) {
  op.doc("Boxes around masks.")
      .hidden()
      .input("masks", "The masks of the objects.")
      .infer([](Infer<NoArgs>& call) {
        check_masks(call.in[0]);
        call.out[0].dtype = DType::float32;
        call.out[0].ndim = 2;
        call.out[0].layout = {};
      })
      .on_cpu()
      .each_sample<BoxesOfMasksPlan>();
}

}  // namespace avida::ops
