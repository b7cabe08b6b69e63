// The order in which a reader goes through its samples: a pure function of a few integers, so that any batch of any
// epoch can be asked for at any time. Shuffling, sharding and padding live here.
#pragma once
#include <cstdint>
#include <vector>

namespace avida {

// A batch's place. An epoch is what a user's loop goes through, in whole batches; a pass goes once over a shard.
// Without padding, an epoch's last batch is filled up from the next pass, and the next epoch starts behind it.
struct Cursor {
  int64_t epoch = 0, step = 0;     // which batch of which epoch
  int64_t pass = 0, position = 0;  // where its first sample stands
  bool operator==(const Cursor&) const = default;
};

struct SampleId {
  int64_t index, pass;
};

struct Plan {
  // shard: samples are dealt to the shards at random, once; each pass has an order of its own.
  // all: each pass deals all samples anew.
  enum class Shuffle { none, shard, all };

  int64_t samples = 0;
  int shards = 1, shard = 0;
  bool stick = false;  // to one shard; otherwise each pass takes the next one
  bool pad = false;    // the last sample is repeated until batches are full and shards have equally many
  Shuffle shuffle = Shuffle::none;
  uint64_t seed = 0;

  int64_t padded_samples() const;  // of all shards together
  // How many batches an epoch has.
  int64_t steps(int64_t epoch, int64_t batch_size) const;
  // The samples of the batch at a cursor.
  std::vector<SampleId> batch(const Cursor& at, int64_t batch_size) const;
  // The cursor of the next batch, or of the first one of the next epoch.
  Cursor after(const Cursor& at, int64_t batch_size) const;
  Cursor next_epoch(const Cursor& at, int64_t batch_size) const;

 private:
  int shard_of(int64_t pass) const { return stick ? shard : static_cast<int>((shard + pass) % shards); }
  int64_t first_of(int64_t shard) const;
  int64_t size_of(int64_t pass) const;
  Cursor move(Cursor at, int64_t samples) const;
};

}  // namespace avida
