// The arithmetic of jitter.
#pragma once
#include "kernel/philox.h"
#include "kernel/warp.h"

namespace avida::ops {

struct Jitter {
  static constexpr const char* header = "ops/geometry/jitter.h";
  static constexpr int dims = 2;
  RandomKey key;
  long width;
  float reach;  // of the moves, from one end to the other

  AVIDA_HD AVIDA_INLINE Place<2> operator()(const Place<2>& centre) const {
    long i = static_cast<long>(centre[1]) * width + static_cast<long>(centre[0]);
    PhiloxBlock block = random_block(key, static_cast<unsigned>(i / 2));
    const unsigned* words = block.word + i % 2 * 2;
    auto move = [&](unsigned word) { return (static_cast<float>(word >> 8) * 0x1p-24f - 0.5f) * reach; };
    return {{centre[0] + move(words[0]), centre[1] + move(words[1])}};
  }
};

}  // namespace avida::ops
