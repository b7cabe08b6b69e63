// The inner loops of warps over a tile: compiled for several instruction sets, with equal bits.
#pragma once
#include "op/warp.h"

namespace avida {

// The elements before each place of a tile, and how far it is on the way to the next ones.
struct Located {
  int n;
  alignas(64) int index[3][kTileSize];
  alignas(64) float part[3][kTileSize];
  alignas(64) uint8_t inside[kTileSize];  // all elements that are needed are there
};

// Axis d. Places are moved into [low, high] first; no number at all lies at `low`.
void locate_axis(Located& found, int d, const float* at, float shift, float low, float high, int last);

// Linear interpolation of images of 1, 3 or 4 bytes per pixel; false for others.
bool look_up_bytes(const Texture<uint8_t, 2>& in, int64_t channels, const Located& found, uint8_t* out);

}  // namespace avida
