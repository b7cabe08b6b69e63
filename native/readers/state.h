// ReaderState: where a reader stands; a few integers, whatever the size of the data set.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace avida {

// The batch size from a position on. If epochs wrap, shards of different sizes may read different numbers of batches in
// one, so the samples that each has taken depend on the batch sizes.
struct Stretch {
  int64_t epoch = 0, done = 0, batch_size = 1;
  bool operator==(const Stretch&) const = default;
};

// A part of the run with a constant number of shards, up to a step that all of them have reached.
struct Phase {
  int shards = 0;
  int64_t base = 0;   // the pass with which the run began; later phases begin at the end of the previous one
  int64_t taken = 0;  // samples that each shard took before the first stretch
  int64_t epoch = 0,
          done = 0;        // the position at the end of the phase, and the samples that each shard took of the epoch
  int64_t batch_size = 1;  // of the last batch
  std::vector<Stretch> stretches;
  bool operator==(const Phase&) const = default;
};

// The part of the run that goes on, and what has to be known of the run and its data.
struct ReaderState : Phase {
  std::vector<Phase> history;  // earlier parts, whose gaps are still to be filled
  int64_t samples = 0;         // of the data set; 0 when it was not opened yet
  uint64_t seed = 0;
  std::string order;       // how samples are ordered and divided, in words
  uint64_t own_order = 0;  // a checksum of the user's own order of this epoch, if it has begun
  bool operator==(const ReaderState&) const = default;

  // The state at a later position, up to which batches have this size. Where epochs wrap, they have to do with those
  // before them.
  ReaderState moved_to(int64_t later_epoch, int64_t later_done, int64_t size, bool wraps) const;
  // The same position of a run that goes on with this number of shards.
  ReaderState divided_by(int number_of_shards) const;
};

}  // namespace avida
