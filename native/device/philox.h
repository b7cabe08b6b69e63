// Counter-based random numbers: Philox4x32 with ten rounds (Salmon et al., 2011). Each word depends only on its
// counter, so a draw depends neither on threads nor on other samples nor on the device. Read by NVRTC too: no std
// headers.
#pragma once
#include "device/macros.h"

namespace avida {

struct PhiloxBlock {
  unsigned word[4];
};

AVIDA_HD AVIDA_INLINE PhiloxBlock philox(unsigned long key, unsigned long high, unsigned long low) {
  PhiloxBlock block{{static_cast<unsigned>(low), static_cast<unsigned>(low >> 32), static_cast<unsigned>(high),
                     static_cast<unsigned>(high >> 32)}};
  unsigned key0 = static_cast<unsigned>(key), key1 = static_cast<unsigned>(key >> 32);
  for (int round = 0; round < 10; round++) {
    unsigned long a = 0xD2511F53ul * block.word[0], b = 0xCD9E8D57ul * block.word[2];
    block = {{static_cast<unsigned>(b >> 32) ^ block.word[1] ^ key0, static_cast<unsigned>(b),
              static_cast<unsigned>(a >> 32) ^ block.word[3] ^ key1, static_cast<unsigned>(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return block;
}

// Identifies the random stream of one sample in one call of a random operator.
struct RandomKey {
  unsigned long seed = 0, position = 0;  // of the generator when the call was made
  unsigned sample = 0;
};

// The index-th block of four words of a stream. Counters that start with zero belong to words that Python draws from
// the generator itself.
AVIDA_HD AVIDA_INLINE PhiloxBlock random_block(const RandomKey& key, unsigned index) {
  return philox(key.seed, key.position + 1, static_cast<unsigned long>(key.sample) << 32 | index);
}

// Four more words for an element that needs more than its own: the block itself is the counter, with another key.
AVIDA_HD AVIDA_INLINE PhiloxBlock following_block(const RandomKey& key, const PhiloxBlock& block) {
  return philox(~key.seed, static_cast<unsigned long>(block.word[3]) << 32 | block.word[2],
                static_cast<unsigned long>(block.word[1]) << 32 | block.word[0]);
}

// Reads the words of a stream sequentially.
class RandomStream {
 public:
  AVIDA_HD explicit RandomStream(const RandomKey& key) : key_(key) {}

  AVIDA_HD unsigned next() {
    if (used_ == 4) {
      block_ = random_block(key_, block_index_++);
      used_ = 0;
    }
    return block_.word[used_++];
  }

  // A uniform integer in [0, n).
  AVIDA_HD unsigned below(unsigned n) {
    unsigned long product = static_cast<unsigned long>(next()) * n;
    if (static_cast<unsigned>(product) < n) {
      unsigned surplus = (0u - n) % n;
      while (static_cast<unsigned>(product) < surplus) product = static_cast<unsigned long>(next()) * n;
    }
    return static_cast<unsigned>(product >> 32);
  }

  // Seeks to the block-th block of four words, for bodies that compute elements in any order.
  AVIDA_HD void seek(unsigned block) {
    block_index_ = block;
    used_ = 4;
  }

 private:
  RandomKey key_;
  PhiloxBlock block_{};
  unsigned block_index_ = 0;
  int used_ = 4;
};

}  // namespace avida
