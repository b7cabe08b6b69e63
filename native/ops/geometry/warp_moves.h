// Where the positions of a warped image go: the inverse of the map by which its pixels are looked up.
#pragma once
#include "ops/geometry/affine.h"
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

}  // namespace avida::ops
