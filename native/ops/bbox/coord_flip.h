// The body of coord_flip: mirrors one coordinate of a point. Read by NVRTC too: no std headers.
#pragma once
#include "device/macros.h"

namespace avida::ops {

// Each item is one coordinate of a point.
struct CoordFlip {
  static constexpr const char* header = "ops/bbox/coord_flip.h";
  struct Params {
    float* out;
    const float* in;
    long count;  // coordinates of a point
    float twice_center[3];
    bool flips[3];
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const long c = i % params.count;
    params.out[i] = params.flips[c] ? params.twice_center[c] - params.in[i] : params.in[i];
  }
};

}  // namespace avida::ops
