// Schedule: which samples a batch has. It is a pure function of a few integers, so that any batch of any epoch can be
// asked for at any time. Shuffling, sharding, padding and the rest of an interrupted run are decided here.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "arguments/choices.h"
#include "readers/state.h"

namespace avida {

class BlockOrder;

// The position of a batch. An epoch is one loop of the user; a pass reads each sample of a shard once. The two differ
// if the last batch of an epoch is completed from the next pass, and the next epoch starts after it.
struct Cursor {
  int64_t epoch = 0, done = 0;     // the epoch, and the samples that every shard has taken in it
  int64_t pass = 0, position = 0;  // the next sample of this shard
  bool operator==(const Cursor&) const = default;
};

struct SampleId {
  int64_t index, pass;
};

// Samples are assigned to shards at random, once, and each pass shuffles within the shards; or each pass assigns all
// samples anew.
enum class Shuffle { none, within_shards, all };
AVIDA_CHOICES(Shuffle, "no shuffling", "random_shuffle", "shuffle_after_epoch")

// What happens to the last batch of an epoch if it is not full. wrap: it is completed from the next pass. pad: it
// repeats its last sample, so that all shards have the same number of batches. partial: it stays small. drop: it is
// omitted.
enum class LastBatch { wrap, pad, partial, drop };
AVIDA_CHOICES_WITH(LastBatch, kRaisesValueError, "wrap", "pad", "partial", "drop")

struct Schedule {
  int64_t samples = 0;
  int shards = 1, shard = 0;
  bool stick = false;  // keep one shard; otherwise each pass takes the next one
  LastBatch last = LastBatch::wrap;
  Shuffle shuffle = Shuffle::none;
  uint64_t seed = 0;
  std::shared_ptr<const BlockOrder> blocks;           // whose samples are shuffled by blocks; null: one by one
  std::shared_ptr<const std::vector<int64_t>> order;  // the user's order of sample indices, if any

  // Resumes a run of several phases. Throws if they are inconsistent. An order of the user's own replaces one epoch:
  // nothing of those before it is left to be read.
  void resume(const ReaderState& state);

  // The position of this shard at the end of a phase that follows those of resume(), and the samples that it has taken
  // in that phase.
  Cursor cursor(const Phase& phase) const;
  int64_t taken(const Phase& phase) const;

  int64_t padded_samples() const;  // of all shards together
  // The number of remaining batches in an epoch.
  int64_t steps(const Cursor& at, int64_t batch_size) const;
  // The samples of the batch at a cursor.
  std::vector<SampleId> batch(const Cursor& at, int64_t batch_size) const;
  // The cursor of the next batch, or of the first one of the next epoch.
  Cursor after(const Cursor& at, int64_t batch_size) const;
  // The position of the whole run after the batch at a cursor: within the epoch as long as a longer shard is.
  Cursor behind(const Cursor& at, int64_t batch_size) const;
  Cursor next_epoch(const Cursor& at, int64_t batch_size) const;
  // The cursor some batches later; at most that of the last one of the epoch.
  Cursor some_after(Cursor at, int64_t batch_size, int batches) const;

 private:
  struct Range {
    int64_t begin, end;
  };
  // The rest of a pass: ranges of positions in the order that was made for `shards` shards.
  struct Rest {
    std::vector<Range> ranges;
    int64_t size = 0;
    int shards = 1;
  };
  class Order;

  // A position in the passes of one shard.
  struct Position {
    int64_t pass, position;
  };

  int part_of(int64_t shard, int64_t pass, int shards) const;
  int64_t size_of(int64_t pass) const;  // of the shard
  int64_t longest(int64_t pass) const;  // of the longest shard
  int64_t rest_size(int64_t pass) const;
  bool has_gaps_from(int64_t pass) const { return !rests_.empty() && rests_.rbegin()->first >= pass; }
  void check(const Phase& phase) const;
  int64_t base_of(const Phase& phase) const { return resumed_ ? base_ : phase.base; }
  int64_t epoch_size(int64_t epoch) const;  // of all shards
  int64_t quota(int64_t epoch, int64_t shard, int shards) const;
  int64_t taken_by(int64_t shard, const Phase& phase) const;
  __int128 taken_in(const Stretch& from, int64_t epoch, int64_t done, int64_t shard, int shards) const;
  int64_t count(const Cursor& at, int64_t batch_size) const;
  int64_t held_position(int64_t taken, int64_t size, int64_t longest, int64_t batch_size) const;
  Position forward(Position from, int64_t shard, int shards) const;
  void move(Cursor& at, int64_t samples) const;
  Position end_of(const Phase& phase, int64_t shard) const;
  void remove(int64_t pass, const Phase& phase, const std::vector<Position>& ends);

  std::map<int64_t, Rest> rests_;    // of passes that earlier phases have begun
  int64_t base_ = 0;                 // the first pass with remaining samples
  int64_t first_epoch_ = 0;          // of this phase
  int64_t left_in_first_epoch_ = 0;  // for all shards together
  bool resumed_ = false;
};

}  // namespace avida
