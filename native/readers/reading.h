// Reading: an epoch that has begun, and where it stands; and Position, where a reader does.
#pragma once
#include <memory>
#include <optional>

#include "readers/prefetcher.h"
#include "readers/schedule.h"

namespace avida {

class Reading {
 public:
  // One worker of several takes every items-th item of an epoch, beginning with item `first`.
  struct Turns {
    int first = 0, items = 1;
  };

  Reading(const Schedule& schedule, const ReaderState& from, int64_t batch_size, uint64_t own_order,
          const Turns& turns);

  const Schedule& schedule() const { return schedule_; }
  const ReaderState& from() const { return from_; }
  int64_t batch_size() const { return batch_size_; }
  uint64_t own_order() const { return own_order_; }
  const Turns& turns() const { return turns_; }

  int64_t epoch() const { return begin_.epoch; }
  int64_t batches() const { return batches_; }  // from that state to the end of the epoch, of all workers
  int64_t items() const;                        // of this worker
  Cursor first() const { return schedule_.some_after(begin_, batch_size_, turns_.first); }

  // Notes that the item at a cursor was given out. Several threads may share an epoch, and come in any order.
  void note_given(const Cursor& at);
  int64_t given() const { return given_; }
  ReaderState state() const;       // behind the items that were given out
  ReaderState next_epoch() const;  // behind all of them

 private:
  ReaderState state_at(const Cursor& at) const;

  Schedule schedule_;
  ReaderState from_;
  int64_t batch_size_;
  uint64_t own_order_;
  Turns turns_;
  Cursor begin_;
  int64_t batches_;
  std::optional<Cursor> last_;  // of the items that were given out
  int64_t given_ = 0;
};

// Where a reader stands: at the beginning of its next epoch, or within the newest one that has begun. Guarded by the
// GIL: each member is one step for all threads.
class Position {
 public:
  explicit Position(ReaderState state) : next_(std::move(state)) {}

  const ReaderState& next() const { return next_; }
  const std::shared_ptr<Reading>& newest() const { return newest_; }
  ReaderState state() const { return newest_ ? newest_->state() : next_; }
  // Counts how often the reader was moved, so that epochs that began before have no more to do with it.
  uint64_t moves() const { return moves_; }

  void move_to(const ReaderState& state);
  // Moves on to the epoch after this one. Returns what has prefetched for it, if anything: a prefetcher with the
  // same options.
  std::shared_ptr<Prefetcher> begin(std::shared_ptr<Reading> reading, const Prefetcher::Options& options);
  // The epoch has ended; what its prefetcher has read already belongs to the next one.
  void end(const std::shared_ptr<Reading>& reading, std::shared_ptr<Prefetcher> prefetcher,
           const Prefetcher::Options& options);

 private:
  struct Prefetched {
    std::shared_ptr<Prefetcher> prefetcher;
    Prefetcher::Options options;
  };

  ReaderState next_;
  std::shared_ptr<Reading> newest_;       // until its end
  std::optional<Prefetched> prefetched_;  // left by the last epoch
  uint64_t moves_ = 0;
};

}  // namespace avida
