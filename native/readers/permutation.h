// A permutation of [0, n) without a table: the "swap or not" shuffle (Hoang, Morris and Rogaway, 2012). Each
// round pairs x with sum - x, and a keyed bit of the pair says whether the two change places.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "device/philox.h"

namespace avida {

class Permutation {
 public:
  Permutation(int64_t n, uint64_t key, uint64_t stream) : n_(static_cast<uint64_t>(n)) {
    rounds_.resize(40 + 6 * std::bit_width(n_));
    for (size_t i = 0; i < rounds_.size(); i++) {
      PhiloxBlock draw = philox(key, stream, i);
      uint64_t sum = static_cast<uint64_t>(draw.word[1]) << 32 | draw.word[0];
      uint64_t salt = static_cast<uint64_t>(draw.word[3]) << 32 | draw.word[2];
      rounds_[i] = {static_cast<uint64_t>(static_cast<unsigned __int128>(sum) * n_ >> 64), salt};
    }
  }

  int64_t operator()(int64_t index) const {
    auto x = static_cast<uint64_t>(index);
    for (const Round& round : rounds_) {
      uint64_t partner = round.sum >= x ? round.sum - x : round.sum + n_ - x;
      x = bit(std::max(x, partner) ^ round.salt) ? partner : x;
    }
    return static_cast<int64_t>(x);
  }

 private:
  struct Round {
    uint64_t sum, salt;
  };
  static bool bit(uint64_t x) {
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    return x >> 63;
  }

  uint64_t n_;
  std::vector<Round> rounds_;
};

}  // namespace avida
