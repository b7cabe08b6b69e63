// BlockOrder: the order of samples that lie in blocks. The blocks of a shard are shuffled, and the samples within each
// window of them, so that a window holds all that is read for a while.
#pragma once
#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "readers/permutation.h"
#include "runtime/fork.h"

namespace avida {

// Takes time and memory for each block, once in a pass, and for each sample the logarithm of their number.
class BlockOrder {
 public:
  // The first sample of each block, in ascending order from 0, and the number of blocks in a window.
  BlockOrder(const std::vector<int64_t>& firsts, int64_t samples, int64_t window);

  // The samples of the block that a sample is in, from the first one to that behind the last one.
  struct Block {
    int64_t first, end;
  };
  Block block_of(int64_t sample) const;
  int64_t window() const { return window_; }
  int64_t samples_in_window() const { return std::min(samples_, window_ * (samples_ / std::ssize(firsts_) + 1)); }

  // One shard in one pass. All blocks, in the order that the dealing gives them, are one sequence of samples, of which
  // the shard has a part; so it shares no block with others but the first and the last.
  struct Part {
    uint64_t dealing_key = 0;
    int64_t dealing = 0;
    uint64_t seed = 0;
    int64_t pass = 0;
    int64_t begin = 0, size = 0;  // in that sequence
    bool operator==(const Part&) const = default;
  };

  // The samples of a part by their positions, of which those of one window are best asked for together.
  class Samples;

 private:
  // Samples of one block that a part has.
  struct Piece {
    int64_t begin;  // its first position in the part
    int64_t first;  // the sample there
  };
  using Pieces = std::vector<Piece>;  // in the order of the pass, by their positions
  struct Dealt {
    uint64_t key;
    int64_t dealing;
    std::vector<Piece> blocks;  // in that sequence
  };

  std::shared_ptr<const Pieces> pieces_of(const Part& part) const;
  Pieces arrange(const Part& part) const;
  const Dealt& deal(const Part& part) const;

  std::vector<int64_t> firsts_;
  const int64_t samples_, window_;
  mutable ForkSafe<> mutex_{ForkAware::Rank::reader};
  mutable std::optional<Dealt> dealt_;
  mutable std::list<std::pair<Part, std::shared_ptr<const Pieces>>> newest_;
};

class BlockOrder::Samples {
 public:
  Samples(const BlockOrder& order, const Part& part);

  const Part& part() const { return part_; }
  int64_t operator()(int64_t position);

 private:
  void find_window(int64_t position);

  const int64_t blocks_in_window_;
  const Part part_;
  const std::shared_ptr<const Pieces> pieces_;
  int64_t begin_ = 0, end_ = 0;  // of the window
  std::optional<PermutedRun> shuffle_;
};

}  // namespace avida
