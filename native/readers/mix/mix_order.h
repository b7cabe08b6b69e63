// MixOrder: the order of a mixture of data sets: which part each slot has, and how often a part came before.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "readers/schedule.h"

namespace avida {

// A pass has `slots()` slots, each with a sample of one part. How many of a part come before a slot is a closed form at
// the borders of blocks of slots; within a block, the slots are shuffled. Without weights, parts take turns.
class MixOrder {
 public:
  // When a pass ends: as soon as the first part has had all its samples, once all parts have, or after some slots.
  enum class Stop { first, all, slots };

  // `sizes`: the samples of each part. `slots` for Stop::slots.
  MixOrder(std::vector<int64_t> sizes, const std::optional<std::vector<double>>& weights, Stop stop, int64_t slots,
           uint64_t seed);

  int64_t slots() const { return slots_; }
  // How many of the first slots of a pass a part has.
  int64_t count(size_t part, int64_t slots) const;

  // What a slot has: of all passes over the part, one behind the other, this sample.
  struct Draw {
    size_t part;
    int64_t pass, position;
  };
  std::vector<Draw> draws(std::span<const SampleId> slots) const;

 private:
  // The parts of the slots of one block, and how many of the same come before in the pass.
  struct Block {
    int64_t pass, number;
    std::vector<std::pair<size_t, int64_t>> slots;
  };
  Block deal(int64_t pass, int64_t number) const;
  std::vector<size_t> shuffled_parts(int64_t pass, int64_t number) const;
  bool fits(int64_t slots) const;
  bool fills(int64_t slots) const;
  int64_t slots_until(Stop stop) const;

  const std::vector<int64_t> sizes_;
  std::vector<int64_t> weights_;  // none: parts take turns
  const uint64_t seed_;
  int64_t slots_ = 0;
};

}  // namespace avida
