// Where the positions of a warped image go: the inverse of the map by which its pixels are looked up.
#pragma once
#include "ops/geometry/affine.h"
#include "ops/geometry/warp_perspective.h"
#include "ops/scenes/moves.h"

namespace avida::ops {

inline Moves inverse_of(const Moves& moves) {
  Moves inverse;
  invert(moves.m, inverse.m);
  return inverse;
}

inline Moves moves_of(const Affine<2>& map) {
  Moves from;
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < 3; c++) from.m[r][c] = map.m[r][c];
  return inverse_of(from);
}

// The same of a perspective. Its horizon is such that the middle of the image lies before it.
inline Moves moves_of(const Perspective& map, const SampleView& image) {
  Moves centred, from;
  for (int i = 0; i < 9; i++) from.m[i / 3][i % 3] = map.m[i / 3][i % 3];
  for (int axis : {0, 1}) centred.shift(axis, -map.origin);
  from = product(from, centred);
  for (int axis : {0, 1}) from.shift(axis, map.origin);
  Moves moves = inverse_of(from);
  if (depth_of(moves, 0.5 * static_cast<double>(extent_of(image, 0)), 0.5 * static_cast<double>(extent_of(image, 1))) <
      0)
    for (auto& row : moves.m)
      for (double& number : row) number = -number;
  return moves;
}

}  // namespace avida::ops
