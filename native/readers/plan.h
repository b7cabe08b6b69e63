// The order in which a reader goes through its samples: a pure function of a few integers, so that any batch of any
// epoch can be asked for at any time. Shuffling, sharding, padding and the rest of an interrupted run live here.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace avida {

// A batch's place. An epoch is what a user's loop goes through; a pass goes once over the samples of a shard. The two
// differ when the last batch of an epoch is filled up from the next pass, and the next epoch starts behind it.
struct Cursor {
  int64_t epoch = 0, done = 0;     // which epoch, and what every shard has taken in it
  int64_t pass = 0, position = 0;  // where the next sample of this shard stands
  bool operator==(const Cursor&) const = default;
};

struct SampleId {
  int64_t index, pass;
};

// An earlier part of the run, with another number of shards, all of which stood at the same step when it ended.
struct Phase {
  int shards;
  int64_t base, taken;  // since the beginning of pass `base`, each shard took so many samples,
  int64_t epoch, done;  // so many of them in the epoch that was left
  int64_t batch_size;   // the last one
};

struct Plan {
  // shard: samples are dealt to the shards at random, once; each pass has an order of its own.
  // all: each pass deals all samples anew.
  enum class Shuffle { none, shard, all };
  // What becomes of the last batch of an epoch when it is not full. wrap: it is filled up from the next pass. pad: with
  // its last sample, so that all shards have equally many. partial: it stays small. drop: it is left out.
  enum class Last { wrap, pad, partial, drop };

  int64_t samples = 0;
  int shards = 1, shard = 0;
  bool stick = false;  // to one shard; otherwise each pass takes the next one
  Last last = Last::wrap;
  Shuffle shuffle = Shuffle::none;
  uint64_t seed = 0;
  std::shared_ptr<const std::vector<int64_t>> order;  // the user's own numbers of samples, if any
  int64_t base = 0;                                   // the pass with which this run, or phase of it, began

  // Goes on with what an interrupted run left.
  void go_on_from(const std::vector<Phase>& phases);

  // Where a run stands after `taken` samples of each shard since pass `base`, in the given epoch; and the reverse.
  Cursor cursor(int64_t epoch, int64_t done, int64_t taken, int64_t batch_size) const;
  int64_t taken(const Cursor& at) const;

  int64_t padded_samples() const;  // of all shards together
  // How many batches are left in an epoch.
  int64_t steps(const Cursor& at, int64_t batch_size) const;
  // The samples of the batch at a cursor.
  std::vector<SampleId> batch(const Cursor& at, int64_t batch_size) const;
  // The cursor of the next batch, or of the first one of the next epoch.
  Cursor after(const Cursor& at, int64_t batch_size) const;
  // Where the whole run stands after the batch at a cursor: still in the epoch, as long as a longer shard is.
  Cursor behind(const Cursor& at, int64_t batch_size) const;
  Cursor next_epoch(const Cursor& at, int64_t batch_size) const;

 private:
  struct Range {
    int64_t begin, end;
  };
  // What is left of a pass: ranges of positions in the order that so many shards gave it.
  struct Rest {
    std::vector<Range> ranges;
    int64_t size = 0;
    int shards = 1;
  };
  class Order;

  int part_of(int64_t shard, int64_t pass, int shards) const;
  int64_t size_of(int64_t pass) const;  // of the shard
  int64_t longest(int64_t pass) const;  // of any shard
  int64_t rest_size(int64_t pass) const;
  bool has_gaps_from(int64_t pass) const { return !rests_.empty() && rests_.rbegin()->first >= pass; }
  std::pair<int64_t, int64_t> round() const;  // samples and passes
  void check(const Phase& phase) const;
  int64_t epoch_size(int64_t epoch) const;  // what all shards take in an epoch
  int64_t quota(int64_t epoch) const;       // what this shard takes in it
  int64_t count(const Cursor& at, int64_t batch_size) const;
  int64_t held_position(int64_t taken, int64_t size, int64_t longest, int64_t batch_size) const;
  void move(Cursor& at, int64_t samples) const;

  std::map<int64_t, Rest> rests_;    // of passes that the phases before have touched
  int64_t first_epoch_ = 0;          // of this phase
  int64_t left_in_first_epoch_ = 0;  // for all shards together
  bool resumed_ = false;
};

}  // namespace avida
