// A permutation of [0, n) without a table: the "swap or not" shuffle (Hoang, Morris and Rogaway, 2012). Each
// round pairs x with sum - x, and a keyed bit of the pair says whether the two change places.
#pragma once
#include <algorithm>
#include <array>
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
    for (const Round& round : rounds_) x = after(round, x);
    return static_cast<int64_t>(x);
  }

  // The images of `index` and those behind it. All together take hardly longer than one, whose rounds wait for one
  // another. What follows n has an image without a meaning.
  static constexpr int kTogether = 8;
  std::array<int64_t, kTogether> together(int64_t index) const {
    std::array<uint64_t, kTogether> x;
    for (size_t i = 0; i < kTogether; i++) x[i] = static_cast<uint64_t>(index) + i;
    for (const Round& round : rounds_)
      for (uint64_t& each : x) each = after(round, each);
    std::array<int64_t, kTogether> images;
    std::ranges::copy(x, images.begin());
    return images;
  }

 private:
  struct Round {
    uint64_t sum, salt;
  };
  uint64_t after(const Round& round, uint64_t x) const {
    const uint64_t partner = round.sum >= x ? round.sum - x : round.sum + n_ - x;
    return bit(std::max(x, partner) ^ round.salt) ? partner : x;
  }
  static bool bit(uint64_t x) {
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    return x >> 63;
  }

  uint64_t n_;
  std::vector<Round> rounds_;
};

// A permutation for indices that are asked for one behind the other.
class PermutedRun {
 public:
  PermutedRun(int64_t n, uint64_t key, uint64_t stream) : permutation_(n, key, stream) {}

  int64_t operator()(int64_t index) {
    if (index < begin_ || index - begin_ >= Permutation::kTogether) {
      images_ = permutation_.together(index);
      begin_ = index;
    }
    return images_[static_cast<size_t>(index - begin_)];
  }

 private:
  Permutation permutation_;
  int64_t begin_ = -Permutation::kTogether;
  std::array<int64_t, Permutation::kTogether> images_{};
};

}  // namespace avida
