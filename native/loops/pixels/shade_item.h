// The body of shade_pixels: each pixel times a factor, plus a share of a colour, both of which follow from its place.
#pragma once
#include "device/convert.h"
#include "device/pixel.h"

namespace avida {

constexpr int kShadeColors = 4;

// x * (base + gain * level) + level * color
struct Shading {
  float base = 1, gain = 0;
  float color[kShadeColors] = {};  // for each channel; more channels than that have the first

  AVIDA_HD AVIDA_INLINE float factor(float level) const { return base + gain * level; }
  AVIDA_HD AVIDA_INLINE float addend(float level, long channel) const {
    return level * color[channel < kShadeColors ? channel : 0];
  }
};

template <class T>
AVIDA_HD AVIDA_INLINE T shaded(T x, float factor, float addend) {
  return store_channel<T>(static_cast<float>(x) * factor + addend);
}

// An item is a pixel. A field is what makes the level of a place: operator()(int x, int y).
template <class T, class Field>
struct ShadePixel {
  static constexpr const char* header = "loops/pixels/shade_item.h";
  using Inner = Field;
  struct Params {
    T* out;
    const T* in;
    long width, height, channels;
    long plane;  // elements from a channel to the next; 0: they lie side by side
    Shading shading;
    Field field;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const long pixels = params.width * params.height, frame = item / pixels, pixel = item - frame * pixels;
    const long y = pixel / params.width, x = pixel - y * params.width;
    const float level = params.field(static_cast<int>(x), static_cast<int>(y)), factor = params.shading.factor(level);
    const long first = params.plane ? frame * params.channels * pixels + pixel : item * params.channels;
    for (long c = 0; c < params.channels; c++) {
      const long i = first + c * (params.plane ? params.plane : 1);
      params.out[i] = shaded(params.in[i], factor, params.shading.addend(level, c));
    }
  }
};

}  // namespace avida
