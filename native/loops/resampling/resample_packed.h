// The layout of pixels and weights in vector registers while a row of bytes is filtered.
//
// Taps are taken in pairs, as pmaddwd multiplies and adds them. One load of 16 bytes brings four pixels or, of three
// channels, five; a byte shuffle lays the two values of each channel side by side as 16-bit numbers:
//   r0 g0 b0 r1 g1 b1 ...  ->  r0 r1 g0 g1 b0 b1 0 0
// Each 128-bit lane of a register makes one pixel. Even pixels are in one register and odd ones in another, so that
// packing the two to 16 bits puts them in order.
#pragma once
#include <algorithm>

#include "loops/resampling/resample_bytes.h"

namespace avida::bytes {

constexpr int8_t kShuffle3[3][16] = {
    {0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1},
    {6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1},
    {12, -1, -1, -1, 13, -1, -1, -1, 14, -1, -1, -1, -1, -1, -1, -1},
};
constexpr int8_t kShuffle4[2][16] = {
    {0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1},
    {8, -1, 12, -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1},
};

template <int channels, int i>
constexpr const int8_t* shuffle_bytes() {
  if constexpr (channels == 3)
    return kShuffle3[i];
  else
    return kShuffle4[i < 2 ? i : 0];
}

// Loads of four taps while more are left than one load brings; then the rest.
struct Steps {
  int64_t full, rest_pairs, pairs;
  Steps(int64_t count, int64_t channels) {
    int64_t most = channels == 3 ? 5 : 4;
    full = count <= most ? 0 : (count - most + 3) / 4;
    rest_pairs = (count - 4 * full + 1) / 2;
    pairs = 2 * full + rest_pairs;
  }
};

// fn.operator()<channels, rest_pairs, one_load>(): loops whose lengths the compiler knows.
template <class Fn>
void with_steps(const Steps& steps, int64_t channels, Fn&& fn) {
  auto with_loads = [&]<int c, int rest_pairs>() {
    steps.full ? fn.template operator()<c, rest_pairs, false>() : fn.template operator()<c, rest_pairs, true>();
  };
  if (channels == 4)
    steps.rest_pairs == 1 ? with_loads.template operator()<4, 1>() : with_loads.template operator()<4, 2>();
  else if (steps.rest_pairs == 3)
    with_loads.template operator()<3, 3>();
  else
    steps.rest_pairs == 1 ? with_loads.template operator()<3, 1>() : with_loads.template operator()<3, 2>();
}

// For two registers of `lanes` lanes: the pixels of a group, then for every pair of taps the weights of both registers.
inline void pack_pixels(Taps& taps, int64_t channels, int64_t lanes) {
  const int64_t n = static_cast<int64_t>(taps.first.size()), group = 2 * lanes, groups = (n + group - 1) / group;
  const Steps steps(taps.count, channels);
  taps.offsets.assign(groups * group, 0);
  taps.packed.assign((groups * steps.pairs * group * 8 + 31) / 32, {});
  int16_t* packed = taps.packed[0].weights;
  for (int64_t x = 0; x < groups * group; x++)
    taps.offsets[x] = taps.first[std::min(x, n - 1)] * static_cast<int32_t>(channels);
  for (int64_t x = 0; x < n; x++) {
    int64_t lane = x % 2 * lanes + x % group / 2;
    for (int64_t k = 0; k < taps.count; k++) {
      int16_t* block = packed + ((x / group * steps.pairs + k / 2) * group + lane) * 8;
      for (int64_t c = 0; c < channels; c++) block[2 * c + k % 2] = taps.weights_of(x)[k];
    }
  }
}

}  // namespace avida::bytes
