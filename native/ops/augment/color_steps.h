// The arithmetic of adjust_colors and color_jitter: brightness, contrast, saturation and hue of a pixel, in any order.
#pragma once
#include "device/pixel.h"

namespace avida::ops {

enum class ColorStep : int { brightness, contrast, saturation, hue };

struct ColorSteps {
  int count = 0;
  ColorStep step[4];
  float by[4];  // the factor of a step, or the turn of the hue, of which a circle is 6
  float white;
  float white_of_hue;      // what white becomes before turned colours lose their fraction
  const float* mean_gray;  // of what contrast starts from
  // Numbers that compilers do not know: they make one instruction of a minimum, and two of a comparison with a
  // constant.
  float zero = 0, one = 1;
};

// Functions of one number or of many, all of them inlined: nobody sees how vectors are passed.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
template <class Number>
AVIDA_HD AVIDA_INLINE Number larger(const Number& a, const Number& b) {
  return a > b ? a : b;
}
template <class Number>
AVIDA_HD AVIDA_INLINE Number smaller(const Number& a, const Number& b) {
  return a < b ? a : b;
}
template <class Number>
AVIDA_HD AVIDA_INLINE Number filled(float x) {
  return Number{} + x;
}
// The integer that does not exceed x, of 0 to 2^22: numbers above 2^23 have no fraction. What is less than 2^-12 below
// an integer counts as that integer.
template <class Number>
AVIDA_HD AVIDA_INLINE Number whole_part(const Number& x) {
  return ((x - (0.5f - 0x1p-12f)) + 0x1.8p23f) - 0x1.8p23f;
}

// `whole`, here and below: colours are integers, of which each step drops the fraction.
template <bool whole, class Number>
AVIDA_HD AVIDA_INLINE Number without_fraction(const Number& x) {
  if constexpr (whole)
    return whole_part(x);
  else
    return x;
}

template <bool whole, int N, class Number>
AVIDA_HD AVIDA_INLINE Number gray_of(const Pixel<N, Number>& x) {
  if constexpr (N == 1)
    return x[0];
  else
    return without_fraction<whole, Number>(x[0] * 0.2989f + x[1] * 0.587f + x[2] * 0.114f);
}

// Turns the hue of HSV: the largest and the least colour stay what they are.
template <bool whole, class Number>
AVIDA_HD AVIDA_INLINE void turn_hue(Pixel<3, Number>& x, float turn, const ColorSteps& by) {
  const Number most = larger(x[0], larger(x[1], x[2])), chroma = most - smaller(x[0], smaller(x[1], x[2]));
  const Number inverse = filled<Number>(1) / larger(chroma, filled<Number>(1e-20f));
  // The hue, of which a circle is 6: the largest colour decides on the third of the circle.
  const Number red = (x[1] - x[2]) * inverse, green = (x[2] - x[0]) * inverse + 2.0f,
               blue = (x[0] - x[1]) * inverse + 4.0f;
  Number hue = (x[0] >= most ? red : (x[1] >= most ? green : blue)) + turn;
  hue = hue >= 6.0f ? hue - 6.0f : hue;
  hue = hue < 0.0f ? hue + 6.0f : hue;
  const Number zero = filled<Number>(by.zero), one = filled<Number>(by.one);
  for (int c = 0; c < 3; c++) {
    const Number from = hue - (c == 0 ? 3.0f : c == 1 ? 2.0f : 4.0f), distance = larger<Number>(from, -from);
    const Number less = c == 0 ? 2.0f - distance : distance - 1.0f;
    const Number made = most - chroma * larger(smaller(less, one), zero);
    x[c] = without_fraction<whole, Number>(made * by.white_of_hue);
  }
}

template <bool whole, int N, class Number>
AVIDA_HD AVIDA_INLINE void adjust(Pixel<N, Number>& x, const ColorSteps& steps, int i) {
  const float by = steps.by[i];
  const Number black = filled<Number>(steps.zero), white = filled<Number>(steps.white);
  if (steps.step[i] == ColorStep::hue) {
    if constexpr (N == 3) turn_hue<whole>(x, by, steps);
  } else if (steps.step[i] == ColorStep::brightness) {
    for (int c = 0; c < N; c++) x[c] = without_fraction<whole>(larger(smaller<Number>(x[c] * by, white), black));
  } else {
    const Number share = steps.step[i] == ColorStep::contrast ? filled<Number>(*steps.mean_gray * (1 - by))
                                                              : Number(gray_of<whole>(x) * (1 - by));
    for (int c = 0; c < N; c++)
      x[c] = without_fraction<whole>(larger(smaller<Number>(x[c] * by + share, white), black));
  }
}

template <int N, bool whole>
struct AdjustColors {
  static constexpr const char* header = "ops/augment/color_steps.h";
  static constexpr int in = N, out = N;
  static constexpr bool makes_whole = whole;
  template <class Number>
  AVIDA_HD AVIDA_INLINE static Pixel<N, Number> run(const Pixel<N, Number>& x, const ColorSteps& steps) {
    Pixel<N, Number> made = x;
    for (int i = 0; i < steps.count; i++) adjust<whole>(made, steps, i);
    return made;
  }
  AVIDA_HD static float most(const ColorSteps& steps, float channel) {
    return (steps.white > channel ? steps.white : channel) + 1;
  }
};

// The gray of what the steps make.
template <int N, bool whole>
struct AdjustedGray {
  static constexpr const char* header = "ops/augment/color_steps.h";
  static constexpr int in = N, out = 1;
  template <class Number>
  AVIDA_HD AVIDA_INLINE static Pixel<1, Number> run(const Pixel<N, Number>& x, const ColorSteps& steps) {
    return {{gray_of<whole>(AdjustColors<N, whole>::run(x, steps))}};
  }
};
#pragma GCC diagnostic pop

}  // namespace avida::ops
