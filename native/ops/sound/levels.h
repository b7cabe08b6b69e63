// The arithmetic of clip: levels that a microphone or converter cannot hold.
#pragma once
#include "device/pixel.h"

namespace avida::ops {

struct ClipLevel {
  static constexpr const char* header = "ops/sound/levels.h";
  static constexpr int in = 1, out = 1;
  AVIDA_HD AVIDA_INLINE static Pixel<1> run(const Pixel<1>& x, float level) {
    const float low = x[0] > -level ? x[0] : -level;
    return {{low < level ? low : level}};
  }
};

}  // namespace avida::ops
