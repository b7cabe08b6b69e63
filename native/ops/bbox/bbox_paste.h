// The body of bbox_paste: moves a box with its pasted image. Read by NVRTC too: no std headers.
#pragma once
#include "device/macros.h"

namespace avida::ops {

// Each item is one number of a box: left and top, then right and bottom (`ends`) or width and height.
struct BboxPaste {
  static constexpr const char* header = "ops/bbox/bbox_paste.h";
  struct Params {
    float* out;
    const float* in;
    float scale, offset[2];
    bool ends;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    params.out[i] = params.in[i] * params.scale + (i % 4 < 2 || params.ends ? params.offset[i % 2] : 0.0f);
  }
};

}  // namespace avida::ops
