// The arithmetic of operators that make each element from the same element: gamma, invert, posterize,
// random_tone_curve, solarize.
#pragma once
#include "device/pixel.h"
#include "device/portable_math.h"

namespace avida::ops {

AVIDA_HD AVIDA_INLINE float within(float x, float low, float high) { return x > low ? (x < high ? x : high) : low; }

// x^gamma, of colours from 0 to `range`.
struct Gamma {
  static constexpr const char* header = "ops/augment/tones.h";
  static constexpr int in = 1, out = 1;
  struct Params {
    float range, gamma;
  };
  AVIDA_HD AVIDA_INLINE static Pixel<1> run(const Pixel<1>& x, const Params& by) {
    constexpr float least = 1e-30f;  // where logarithms end
    const float share = within(x[0] / by.range, least, 1);
    const double power = portable::exp_of_minus(static_cast<double>(-by.gamma * portable::log(share)));
    const float made = share == least && by.gamma > 0 ? 0 : static_cast<float>(power);
    return {{made * by.range}};
  }
};

struct Invert {
  static constexpr const char* header = "ops/augment/tones.h";
  static constexpr int in = 1, out = 1;
  AVIDA_HD AVIDA_INLINE static Pixel<1> run(const Pixel<1>& x, float range) { return {{range - x[0]}}; }
};

struct Solarize {
  static constexpr const char* header = "ops/augment/tones.h";
  static constexpr int in = 1, out = 1;
  struct Params {
    float range, threshold;
  };
  AVIDA_HD AVIDA_INLINE static Pixel<1> run(const Pixel<1>& x, const Params& by) {
    return {{x[0] < by.threshold ? x[0] : by.range - x[0]}};
  }
};

// Cuts colours to whole steps.
struct Posterize {
  static constexpr const char* header = "ops/augment/tones.h";
  static constexpr int in = 1, out = 1;
  struct Params {
    float step, steps_in_one, most;  // the length of a step, its inverse, and the number of the last step
  };
  AVIDA_HD AVIDA_INLINE static Pixel<1> run(const Pixel<1>& x, const Params& by) {
    const auto step = static_cast<float>(static_cast<int>(within(x[0] * by.steps_in_one, 0, by.most)));
    return {{step * by.step}};
  }
};

// A cubic Bezier curve from black to white.
struct ToneCurve {
  static constexpr const char* header = "ops/augment/tones.h";
  static constexpr int in = 1, out = 1;
  struct Params {
    float range, low, high;
  };
  AVIDA_HD AVIDA_INLINE static Pixel<1> run(const Pixel<1>& x, const Params& by) {
    const float t = within(x[0] / by.range, 0, 1), s = 1 - t;
    return {{(3 * s * t * (s * by.low + t * by.high) + t * t * t) * by.range}};
  }
};

}  // namespace avida::ops
