// The body of coarse_dropout and spec_augment: an element, or what its hole is filled with.
#pragma once
#include "device/convert.h"
#include "device/philox.h"

namespace avida::ops {

// Rows and columns, each from begin to before end.
struct Hole {
  int top, bottom, left, right;
};

constexpr unsigned kFirstNoiseBlock = 0x80000000u;  // of the words of noise; those before draw the holes

template <class T>
AVIDA_HD AVIDA_INLINE T noise_of(unsigned word, float range) {
  return convert<T>(static_cast<float>(static_cast<int>(word >> 8)) * 0x1p-24f * range);
}

// Each item is an element.
template <class T>
struct Holes {
  static constexpr const char* header = "ops/augment/holes.h";
  struct Params {
    T* out;
    const T* in;
    const Hole* holes;
    const T* fills;
    int hole_count, fill_count;
    long channel_step, height, width, inner;  // elements of a column
    bool noise;                               // in place of the fill values
    float range;                              // of the noise
    RandomKey key;

    // The noise of an element follows from its index.
    AVIDA_HD AVIDA_INLINE T fill(long i) const {
      if (!noise) return fills[i / channel_step % fill_count];
      const PhiloxBlock block = random_block(key, kFirstNoiseBlock + static_cast<unsigned>(i / 4));
      const unsigned k = static_cast<unsigned>(i % 4);
      const unsigned word = k < 2 ? (k ? block.word[1] : block.word[0]) : (k == 2 ? block.word[2] : block.word[3]);
      return noise_of<T>(word, range);
    }
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const long column = i / params.inner % params.width, row = i / (params.inner * params.width) % params.height;
    bool inside = false;
    for (int k = 0; k < params.hole_count; k++) {
      const Hole& hole = params.holes[k];
      inside |= row >= hole.top && row < hole.bottom && column >= hole.left && column < hole.right;
    }
    params.out[i] = inside ? params.fill(i) : params.in[i];
  }
};

}  // namespace avida::ops
