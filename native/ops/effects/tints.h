// The arithmetic of hue_saturation_value, iso_noise and snow: pixels in the spaces HSV and HLS.
#pragma once
#include "ops/augment/color_steps.h"

namespace avida::ops {

// All inlined, as in color_steps.h.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

// The hue of RGB as the number of sixths of a circle, turned by some more; from 0 to 6. `inverse` is that of the
// chroma.
template <class Number>
AVIDA_HD AVIDA_INLINE Number turned_hue(const Pixel<3, Number>& x, const Number& most, const Number& inverse,
                                        const Number& sixths) {
  const Number red = (x[1] - x[2]) * inverse, green = (x[2] - x[0]) * inverse + 2.0f,
               blue = (x[0] - x[1]) * inverse + 4.0f;
  Number hue = (x[0] >= most ? red : (x[1] >= most ? green : blue)) + sixths;
  hue = hue >= 6.0f ? hue - 6.0f : hue;
  return hue < 0.0f ? hue + 6.0f : hue;
}
// RGB whose largest colour is `most`, of a chroma and a hue.
template <class Number>
AVIDA_HD AVIDA_INLINE Pixel<3, Number> of_hue(const Number& hue, const Number& most, const Number& chroma) {
  Pixel<3, Number> made;
  for (int c = 0; c < 3; c++) {
    const Number from = hue - (c == 0 ? 3.0f : c == 1 ? 2.0f : 4.0f), distance = larger<Number>(from, -from);
    const Number less = c == 0 ? 2.0f - distance : distance - 1.0f;
    made[c] = most - chroma * larger(smaller(less, filled<Number>(1)), Number{});
  }
  return made;
}

struct ShiftHsv {
  static constexpr const char* header = "ops/effects/tints.h";
  static constexpr int in = 3, out = 3;
  struct Params {
    float range, sixths, saturation, value;  // the hue from -3 to 3; the others as shares
  };
  template <class Number>
  AVIDA_HD AVIDA_INLINE static Pixel<3, Number> run(const Pixel<3, Number>& x, const Params& by) {
    const Number most = larger(x[0], larger(x[1], x[2])), chroma = most - smaller(x[0], smaller(x[1], x[2]));
    // One division makes both inverses.
    const Number one = filled<Number>(1), inverse = one / larger<Number>(chroma * most, filled<Number>(1e-20f));
    const Number hue = turned_hue<Number>(x, most, most * inverse, filled<Number>(by.sixths));
    const Number share = chroma * chroma * inverse;
    // Grays have no hue, and stay gray.
    const Number colored = smaller<Number>(chroma * 1e30f, one);
    const Number saturation = larger(smaller<Number>(share + by.saturation, one), Number{}) * colored;
    const Number value = larger(smaller<Number>(most + by.value * by.range, filled<Number>(by.range)), Number{});
    return of_hue<Number>(hue, value, value * saturation);
  }
};

// The lightness of HLS becomes another one: hue and saturation stay.
template <class Number>
AVIDA_HD AVIDA_INLINE Pixel<3, Number> with_lightness(const Pixel<3, Number>& x, const Number& old, const Number& made,
                                                      float range) {
  const Number one = filled<Number>(range), two_old = old + old - one, two_made = made + made - one;
  const Number room = one - larger<Number>(two_old, -two_old), new_room = one - larger<Number>(two_made, -two_made);
  const Number scale = new_room / larger(room, filled<Number>(range * 1e-6f));
  return {{made + (x[0] - old) * scale, made + (x[1] - old) * scale, made + (x[2] - old) * scale}};
}
template <class Number>
AVIDA_HD AVIDA_INLINE Number lightness_of(const Pixel<3, Number>& x) {
  const Number most = larger(x[0], larger(x[1], x[2])), least = smaller(x[0], smaller(x[1], x[2]));
  return (most + least) * 0.5f;
}

struct Snow {
  static constexpr const char* header = "ops/effects/tints.h";
  static constexpr int in = 3, out = 3;
  struct Params {
    float range, limit, brightness;
  };
  template <class Number>
  AVIDA_HD AVIDA_INLINE static Pixel<3, Number> run(const Pixel<3, Number>& x, const Params& by) {
    const Number lightness = lightness_of(x), limit = filled<Number>(by.limit);
    const Number made =
        lightness < limit ? smaller<Number>(lightness * by.brightness, filled<Number>(by.range)) : lightness;
    return with_lightness(x, lightness, made, by.range);
  }
};
#pragma GCC diagnostic pop

}  // namespace avida::ops
