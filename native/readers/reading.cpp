#include "readers/reading.h"

#include <algorithm>

namespace avida {

Reading::Reading(const Schedule& schedule, const ReaderState& from, int64_t batch_size, uint64_t own_order,
                 const Turns& turns)
    : schedule_(schedule),
      from_(from),
      batch_size_(batch_size),
      own_order_(own_order),
      turns_(turns),
      begin_(schedule_.cursor(from_)),
      batches_(schedule_.steps(begin_, batch_size_)) {}

int64_t Reading::items() const {
  return std::max<int64_t>(0, (batches_ - turns_.first + turns_.items - 1) / turns_.items);
}

void Reading::note_given(const Cursor& at) {
  given_++;
  if (!last_ || at.done >= last_->done) last_ = at;
}

ReaderState Reading::state() const {
  if (!last_) return state_at(begin_);
  const Cursor last = schedule_.some_after(*last_, batch_size_, turns_.items - 1 - turns_.first);
  return state_at(schedule_.behind(last, batch_size_));
}

ReaderState Reading::next_epoch() const { return state_at(schedule_.next_epoch(begin_, batch_size_)); }

ReaderState Reading::state_at(const Cursor& at) const {
  if (at.epoch == from_.epoch && at.done == from_.done) return from_;
  const bool wraps = schedule_.last == LastBatch::wrap;
  ReaderState state = from_.moved_to(at.epoch, at.done, batch_size_, wraps);
  if (at.done > 0) state.own_order = own_order_;
  if (!wraps || state.shards > 1) return state;
  state.taken = schedule_.taken(state);
  state.stretches.clear();
  return state;
}

void Position::move_to(const ReaderState& state) {
  next_ = state;
  newest_ = nullptr;
  prefetched_.reset();
  moves_++;
}

std::shared_ptr<Prefetcher> Position::begin(std::shared_ptr<Reading> reading, const Prefetcher::Options& options) {
  ReaderState next = reading->next_epoch();
  std::shared_ptr<Prefetcher> found;
  if (prefetched_ && reading->items() > 0 && !options.one_epoch &&
      prefetched_->options.batch_size == options.batch_size && prefetched_->options.batches == options.batches &&
      prefetched_->prefetcher->cursor() == reading->first())
    found = prefetched_->prefetcher;
  prefetched_.reset();
  next_ = std::move(next);
  newest_ = std::move(reading);
  return found;
}

void Position::end(const std::shared_ptr<Reading>& reading, std::shared_ptr<Prefetcher> prefetcher,
                   const Prefetcher::Options& options) {
  if (newest_ == reading) newest_ = nullptr;
  if (prefetcher && !options.one_epoch) prefetched_ = Prefetched{std::move(prefetcher), options};
}

}  // namespace avida
