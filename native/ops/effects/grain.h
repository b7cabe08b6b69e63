// The bodies of iso_noise and multiplicative_noise: random numbers at each pixel. Read by NVRTC too: no std headers.
#pragma once
#include "ops/effects/tints.h"
#include "ops/random/distributions.h"

namespace avida::ops {

// Channel c of pixel i is the element (i / plane * channels + c) * plane + i % plane.
struct PixelPlaces {
  long count, channels, plane;

  AVIDA_HD AVIDA_INLINE long element(long pixel, long c) const {
    return (pixel / plane * channels + c) * plane + pixel % plane;
  }
};

// Each item is one block of random words and its pixels, which are multiplied.
template <class T>
struct MultiplyPixels {
  static constexpr const char* header = "ops/effects/grain.h";
  struct Params {
    T* out;
    const T* in;
    PixelPlaces pixels;
    RandomKey key;
    Uniform<float> factors;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long block) {
    float drawn[4];
    params.factors(random_block(params.key, static_cast<unsigned>(block)), drawn);
    for (int k = 0; k < 4; k++) {
      const long pixel = drawn_index<4>(block, k);
      if (pixel >= params.pixels.count) continue;
      for (long c = 0; c < params.pixels.channels; c++) {
        const long i = params.pixels.element(pixel, c);
        params.out[i] = store_channel<T>(static_cast<float>(params.in[i]) * drawn[k]);
      }
    }
  }
};

// Noise of the lightness, of which bright pixels have less, and of the hue.
struct IsoNoise {
  float range, lightness, sixths;

  AVIDA_HD AVIDA_INLINE Pixel<3> operator()(const Pixel<3>& x, float lighter, float turn) const {
    const float most = larger(x[0], larger(x[1], x[2])), chroma = most - smaller(x[0], smaller(x[1], x[2]));
    float more = turn * sixths;
    more = more > -6 ? (more < 6 ? more : 6) : -6;
    const float hue = turned_hue(x, most, 1 / larger(chroma, 1e-20f), more);
    const Pixel<3> turned = of_hue(hue, most, chroma);
    const float light = lightness_of(turned), made = light + lighter * lightness * (range - light);
    return with_lightness(turned, light, larger(smaller(made, range), 0.0f), range);
  }
};

// Each item is a block of random words, which make two pixels: see iso_pixel.
constexpr int kIsoTile = 32;  // pixels of 16 blocks: first one of each, then the others
AVIDA_HD AVIDA_INLINE long iso_pixel(long block, int k) { return block / 16 * kIsoTile + k * 16 + block % 16; }

template <class T>
struct IsoPixels {
  static constexpr const char* header = "ops/effects/grain.h";
  struct Params {
    T* out;
    const T* in;
    PixelPlaces pixels;
    RandomKey key;
    IsoNoise noise;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long block) {
    float drawn[4];
    normals(random_block(params.key, static_cast<unsigned>(block)), drawn);
    for (int k = 0; k < 2; k++) {
      const long pixel = iso_pixel(block, k);
      if (pixel < params.pixels.count) make(params, pixel, drawn[2 * k], drawn[2 * k + 1]);
    }
  }
  AVIDA_HD AVIDA_INLINE static void make(const Params& params, long pixel, float lighter, float turn) {
    Pixel<3> x;
    for (int c = 0; c < 3; c++) x[c] = static_cast<float>(params.in[params.pixels.element(pixel, c)]);
    const Pixel<3> made = params.noise(x, lighter, turn);
    for (int c = 0; c < 3; c++) params.out[params.pixels.element(pixel, c)] = store_channel<T>(made[c]);
  }
};

}  // namespace avida::ops
