// The body of bb_flip: mirrors one box. Read by NVRTC too: no std headers.
#pragma once
#include "device/macros.h"

namespace avida::ops {

// Each item is a box: left and top, then right and bottom (`ends`) or width and height.
struct BbFlip {
  static constexpr const char* header = "ops/bbox/bb_flip.h";
  struct Params {
    float* out;
    const float* in;
    bool horizontal, vertical, ends;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long box) {
    const bool flips[2] = {params.horizontal, params.vertical};
    for (int d = 0; d < 2; d++) {
      const float start = params.in[4 * box + d], second = params.in[4 * box + d + 2];
      params.out[4 * box + d] = !flips[d] ? start : 1.0f - (params.ends ? second : start + second);
      params.out[4 * box + d + 2] = flips[d] && params.ends ? 1.0f - start : second;
    }
  }
};

}  // namespace avida::ops
