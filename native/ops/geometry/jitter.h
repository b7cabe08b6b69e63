// The arithmetic of jitter.
#pragma once
#include "device/philox.h"
#include "loops/warping/warp_map.h"

namespace avida::ops {

struct Jitter {
  static constexpr const char* header = "ops/geometry/jitter.h";
  static constexpr int dims = 2;
  RandomKey key;
  long width;
  float reach;  // of the moves, from one end to the other

  AVIDA_HD AVIDA_INLINE Place<2> operator()(const Place<2>& centre) const {
    const long i = static_cast<unsigned>(centre[1]) * width + static_cast<unsigned>(centre[0]);
    const PhiloxBlock block = random_block(key, static_cast<unsigned>(i / 2));
    auto move = [&](int k) {  // two pixels share a block
      const unsigned word = i % 2 ? block.word[k + 2] : block.word[k];
      return (static_cast<float>(word >> 8) * 0x1p-24f - 0.5f) * reach;
    };
    return {{centre[0] + move(0), centre[1] + move(1)}};
  }
};

}  // namespace avida::ops
