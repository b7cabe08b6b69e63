// The body of noise.salt_and_pepper: random pixels become white or black. Read by NVRTC too: no std headers.
#pragma once
#include "ops/random/distributions.h"

namespace avida::ops {

struct Grains {
  enum { none, pepper, salt };
  using Number = int;
  unsigned long peppers,
      grains;  // of the 2^32 words, the count of those that mean pepper, and of those that mean either

  AVIDA_HD AVIDA_INLINE void operator()(const PhiloxBlock& block, int (&out)[4]) const {
    // One less than a count fits into a word even where all words count.
    const unsigned last_pepper = static_cast<unsigned>(peppers - 1), some_pepper = peppers != 0;
    const unsigned last_grain = static_cast<unsigned>(grains - 1), some_grain = grains != 0;
    for (int i = 0; i < 4; i++)
      out[i] = salt * ((block.word[i] <= last_grain) & some_grain) - ((block.word[i] <= last_pepper) & some_pepper);
  }
};

// Channel c of pixel i is the element (i / plane * channels + c) * plane + i % plane.
struct GrainPixels {
  long count, channels, plane;

  AVIDA_HD AVIDA_INLINE long element(long pixel, long c) const {
    return (pixel / plane * channels + c) * plane + pixel % plane;
  }
};

// Each item is one block of random words and its pixels.
template <class T>
struct SaltAndPepper {
  static constexpr const char* header = "ops/noise/salt_and_pepper.h";
  struct Params {
    T* out;
    const T* in;
    GrainPixels pixels;
    RandomKey key;
    Grains grains;
    T pepper_value, salt_value;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long block) {
    int drawn[4];
    params.grains(random_block(params.key, static_cast<unsigned>(block)), drawn);
    for (int k = 0; k < 4; k++) {
      const long pixel = drawn_index<4>(block, k);
      if (pixel >= params.pixels.count) continue;
      for (long c = 0; c < params.pixels.channels; c++) {
        const long i = params.pixels.element(pixel, c);
        const T value = params.in[i];
        const T grain = drawn[k] == Grains::salt ? params.salt_value : params.pepper_value;
        params.out[i] = drawn[k] == Grains::none ? value : grain;
      }
    }
  }
};

}  // namespace avida::ops
