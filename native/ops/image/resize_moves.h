// Where the positions of a resized image go.
#pragma once
#include "ops/image/resize_args.h"
#include "ops/scenes/moves.h"

namespace avida::ops {

inline Moves moves_of(const SampleView& image, const std::vector<AxisPlan>& plans) {
  Moves moves;
  for (const AxisPlan& plan : plans)
    for (int axis : {0, 1}) {
      if (plan.axis != axis_of(image, axis) || plan.end == plan.start) continue;
      moves.shift(axis, -static_cast<double>(plan.start));
      moves.scale(axis, static_cast<double>(plan.out) / (static_cast<double>(plan.end) - plan.start));
    }
  return moves;
}

}  // namespace avida::ops
