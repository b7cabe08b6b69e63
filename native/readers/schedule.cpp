#include "readers/schedule.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "readers/blocks/block_order.h"
#include "readers/permutation.h"

namespace avida {
namespace {

constexpr int64_t kMost = int64_t{1} << 53;  // the limit of any integer in a state
// The limit of unfinished passes times shards. Shards of different sizes drift apart if each reader keeps its shard.
constexpr int64_t kMostParts = int64_t{1} << 24;

// A fixed key: all shards must agree on the assignment of samples, whatever seeds users give them.
constexpr uint64_t kDealingKey = 0x5EED0FDEA1;

int64_t parts(int64_t n, int64_t size) { return (n + size - 1) / size; }

// Where part k of n begins if all parts are as equal as possible. Part n is the first one of the next pass.
__int128 wide_begin(int64_t size, int64_t part, int64_t n) { return static_cast<__int128>(size) * part / n; }

int64_t part_begin(int64_t size, int64_t part, int64_t n) { return static_cast<int64_t>(wide_begin(size, part, n)); }

// The part that an element belongs to.
int64_t part_at(int64_t size, __int128 element, int64_t n) {
  return static_cast<int64_t>(((element + 1) * n - 1) / size);
}

int64_t part_size(int64_t size, int64_t part, int64_t n) {
  return part_begin(size, part + 1, n) - part_begin(size, part, n);
}

[[noreturn]] void refuse() { fail(ErrorKind::value, "the state does not belong to a run over these samples"); }

}  // namespace

// The samples of one pass of one shard, by position.
class Schedule::Order {
 public:
  Order(const Schedule& schedule, int64_t pass) : schedule_(schedule), pass_(pass), shards_(schedule.shards) {
    auto rest = schedule.rests_.find(pass);
    if (rest != schedule.rests_.end()) {
      rest_ = &rest->second;
      shards_ = rest_->shards;
    }
    int64_t all = schedule.rest_size(pass);
    int part = schedule.part_of(schedule.shard, pass, schedule.shards);
    first_ = part_begin(all, part, schedule.shards);
    size_ = part_size(all, part, schedule.shards);
    all_ = all;
    if (in_blocks()) return;
    if (schedule.shuffle == Shuffle::all) deal_.emplace(schedule.samples, schedule.seed, pass);
    if (schedule.shuffle == Shuffle::within_shards && shards_ > 1) deal_.emplace(schedule.samples, kDealingKey, 0);
  }

  int64_t operator()(int64_t position) {
    // A shard without remaining samples repeats the nearest one.
    int64_t i = std::min(first_ + std::min(position, std::max<int64_t>(size_ - 1, 0)), all_ - 1);
    if (rest_) i = place_in(*rest_, i);
    if (in_blocks()) return sample_in_blocks(i);
    if (schedule_.shuffle == Shuffle::within_shards) i = shuffled(i);
    if (deal_) i = (*deal_)(i);
    return schedule_.order ? (*schedule_.order)[i] : i;
  }

 private:
  static int64_t place_in(const Rest& rest, int64_t i) {
    for (const Range& range : rest.ranges) {
      if (i < range.end - range.begin) return range.begin + i;
      i -= range.end - range.begin;
    }
    return 0;
  }

  bool in_blocks() const { return schedule_.blocks && schedule_.shuffle != Shuffle::none; }

  int64_t sample_in_blocks(int64_t i) {
    const int64_t n = schedule_.samples, part = part_at(n, i, shards_), first = part_begin(n, part, shards_);
    if (!samples_ || samples_->part().begin != first) {
      const bool anew = schedule_.shuffle == Shuffle::all;
      samples_.emplace(*schedule_.blocks, BlockOrder::Part{.dealing_key = anew ? schedule_.seed : kDealingKey,
                                                           .dealing = anew ? pass_ : 0,
                                                           .seed = schedule_.seed,
                                                           .pass = pass_,
                                                           .begin = first,
                                                           .size = part_size(n, part, shards_)});
    }
    return (*samples_)(i - first);
  }

  // Within the shard of the position; shards have one of two sizes.
  int64_t shuffled(int64_t i) {
    auto n = static_cast<int64_t>(schedule_.samples);
    int64_t part = part_at(n, i, shards_), first = part_begin(n, part, shards_), size = part_size(n, part, shards_);
    auto& order = orders_[size % 2];
    if (!order) order.emplace(size, schedule_.seed, pass_);
    return first + (*order)(i - first);
  }

  const Schedule& schedule_;
  int64_t pass_;
  int shards_;  // their number when the pass got its order
  const Rest* rest_ = nullptr;
  int64_t first_ = 0, size_ = 0, all_ = 0;
  std::optional<PermutedRun> orders_[2];
  std::optional<Permutation> deal_;
  std::optional<BlockOrder::Samples> samples_;
};

int Schedule::part_of(int64_t shard, int64_t pass, int shards) const {
  return static_cast<int>(stick ? shard : (shard + pass) % shards);
}

int64_t Schedule::rest_size(int64_t pass) const {
  auto rest = rests_.find(pass);
  return rest == rests_.end() ? samples : rest->second.size;
}

int64_t Schedule::size_of(int64_t pass) const {
  return part_size(rest_size(pass), part_of(shard, pass, shards), shards);
}

int64_t Schedule::longest(int64_t pass) const { return parts(rest_size(pass), shards); }

int64_t Schedule::epoch_size(int64_t epoch) const {
  if (last != LastBatch::wrap) return rest_size(epoch);
  return resumed_ && epoch == first_epoch_ ? left_in_first_epoch_ : samples;
}

int64_t Schedule::quota(int64_t epoch, int64_t shard, int shards) const {
  return part_size(epoch_size(epoch), part_of(shard, epoch, shards), shards);
}

int64_t Schedule::padded_samples() const { return last == LastBatch::pad ? parts(samples, shards) * shards : samples; }

// The position of a shard of some size when the longest ones have taken `taken` samples. A shard that would have no
// sample for the last step keeps one back.
int64_t Schedule::held_position(int64_t taken, int64_t size, int64_t longest, int64_t batch_size) const {
  if (last == LastBatch::pad) return taken;
  bool held = last == LastBatch::partial && batch_size > 1 && taken == size && size > 0 && longest > size;
  return held ? size - 1 : std::min(taken, size);
}

void Schedule::resume(const ReaderState& state) {
  for (const Phase& phase : state.history) {
    if (order && phase.epoch != state.epoch) continue;
    check(phase);
    std::vector<Position> ends;
    int64_t slowest = INT64_MAX, fastest = 0, left_in_epoch = 0;
    for (int s = 0; s < phase.shards; s++) {
      ends.push_back(end_of(phase, s));
      slowest = std::min(slowest, ends.back().pass);
      fastest = std::max(fastest, ends.back().pass);
      left_in_epoch += std::max<int64_t>(0, quota(phase.epoch, s, phase.shards) - phase.done);
    }
    if (fastest - slowest >= kMostParts / phase.shards)
      fail(ErrorKind::value, "the shards of the state are ", fastest - slowest, " passes apart: expected fewer than ",
           kMostParts / phase.shards, " to resume with other shards");
    for (int64_t pass = slowest; pass <= fastest; pass++) remove(pass, phase, ends);
    rests_.erase(rests_.begin(), rests_.lower_bound(slowest));
    resumed_ = true;
    base_ = slowest;
    first_epoch_ = phase.epoch;
    left_in_first_epoch_ = left_in_epoch;
  }
}

// Removes from a pass the samples that the shards of a phase have read.
void Schedule::remove(int64_t pass, const Phase& phase, const std::vector<Position>& ends) {
  auto found = rests_.find(pass);
  Rest rest = found == rests_.end() ? Rest{{{0, samples}}, samples, phase.shards} : found->second;
  Rest next{{}, 0, rest.shards};
  std::vector<int64_t> begins(static_cast<size_t>(phase.shards));
  for (int s = 0; s < phase.shards; s++) {
    const Position& end = ends[static_cast<size_t>(s)];
    int part = part_of(s, pass, phase.shards);
    int64_t begin = part_begin(rest.size, part, phase.shards), size = part_size(rest.size, part, phase.shards);
    begins[static_cast<size_t>(part)] = begin + (end.pass > pass ? size : end.pass == pass ? end.position : 0);
  }
  auto range = rest.ranges.begin();
  int64_t at = 0;  // where that range begins among the remaining samples
  for (int part = 0; part < phase.shards; part++) {
    int64_t begin = begins[static_cast<size_t>(part)], end = part_begin(rest.size, part + 1, phase.shards);
    next.size += end - begin;
    while (begin < end) {
      int64_t length = range->end - range->begin;
      int64_t to = std::min(end, at + length);
      if (begin < to) next.ranges.push_back({range->begin + begin - at, range->begin + to - at});
      begin = std::max(begin, to);
      if (at + length <= begin) {
        at += length;
        range++;
      }
    }
  }
  // A pass that has not begun gets its order from the new shards.
  if (next.size < samples || found != rests_.end()) rests_[pass] = std::move(next);
}

// States are untrusted input from files: nothing may overflow or take long.
void Schedule::check(const Phase& phase) const {
  bool sane = phase.shards >= 1 && (phase.shards <= samples || last != LastBatch::wrap) && phase.batch_size >= 1;
  for (int64_t number : {phase.base, phase.taken, phase.epoch, phase.done, phase.batch_size})
    sane = sane && number >= 0 && number <= kMost;
  sane = sane && (resumed_ ? first_epoch_ : last == LastBatch::wrap ? phase.base : 0) <= phase.epoch;
  std::pair at(resumed_ ? first_epoch_ : 0, int64_t{0});
  for (const Stretch& stretch : phase.stretches) {
    std::pair from(stretch.epoch, stretch.done);
    sane = sane && at <= from && stretch.done >= 0 && stretch.batch_size >= 1 && stretch.batch_size <= kMost;
    at = from;
  }
  if (!sane || (!phase.stretches.empty() && at > std::pair(phase.epoch, phase.done)) ||
      static_cast<int64_t>(rests_.size()) > kMostParts / phase.shards)
    refuse();
}

Schedule::Position Schedule::end_of(const Phase& phase, int64_t s) const {
  if (last == LastBatch::wrap) return forward({base_of(phase), taken_by(s, phase)}, s, phase.shards);
  int64_t all = rest_size(phase.epoch), size = part_size(all, part_of(s, phase.epoch, phase.shards), phase.shards);
  return {phase.epoch, std::min(size, held_position(phase.done, size, parts(all, phase.shards), phase.batch_size))};
}

int64_t Schedule::taken_by(int64_t s, const Phase& phase) const {
  __int128 count = phase.taken;
  for (size_t i = 0; i < phase.stretches.size(); i++) {
    bool is_last = i + 1 == phase.stretches.size();
    int64_t epoch = is_last ? phase.epoch : phase.stretches[i + 1].epoch;
    int64_t done = is_last ? phase.done : phase.stretches[i + 1].done;
    count += taken_in(phase.stretches[i], epoch, done, s, phase.shards);
  }
  if (count > kMost) refuse();
  return static_cast<int64_t>(count);
}

// The samples that a shard takes between two positions: whole batches, as many as its part of each epoch needs.
__int128 Schedule::taken_in(const Stretch& from, int64_t epoch, int64_t done, int64_t s, int n) const {
  auto batches = [&](int64_t wanted) -> __int128 { return parts(std::max<int64_t>(0, wanted), from.batch_size); };
  auto first = batches(quota(from.epoch, s, n) - from.done);
  if (epoch == from.epoch) return std::min<__int128>(first, (done - from.done) / from.batch_size) * from.batch_size;
  auto last = std::min<__int128>(batches(quota(epoch, s, n)), done / from.batch_size);
  // The epochs in between are complete, and have one of two lengths.
  int64_t between = epoch - from.epoch - 1, shorter = samples / n, turn = stick ? s : s + from.epoch + 1;
  __int128 longer = stick ? static_cast<__int128>(between) * (part_size(samples, s, n) - shorter)
                          : wide_begin(samples, turn + between, n) - wide_begin(samples, turn, n) -
                                static_cast<__int128>(between) * shorter;
  auto whole = (between - longer) * batches(shorter) + longer * batches(shorter + 1);
  return (first + whole + last) * from.batch_size;
}

// The position `from.position` samples after the beginning of pass `from.pass`.
Schedule::Position Schedule::forward(Position from, int64_t s, int n) const {
  for (; has_gaps_from(from.pass); from.pass++) {
    int64_t size = part_size(rest_size(from.pass), part_of(s, from.pass, n), n);
    if (from.position < size) return from;
    from.position -= size;
  }
  if (stick) {
    int64_t size = part_size(samples, s, n);
    return {from.pass + from.position / size, from.position % size};
  }
  // Parts are contiguous from pass to pass.
  __int128 element = wide_begin(samples, s + from.pass, n) + from.position;
  int64_t part = part_at(samples, element, n);
  return {part - s, static_cast<int64_t>(element - wide_begin(samples, part, n))};
}

Cursor Schedule::cursor(const Phase& phase) const {
  if (std::max({phase.epoch, phase.done, phase.taken, phase.base}) > kMost)
    fail(ErrorKind::value, "expected a position in a run below 2**53, got epoch ", phase.epoch, ", sample ",
         phase.done);
  check(phase);
  auto [epoch, done] = std::pair(phase.epoch, phase.done);
  if (last != LastBatch::wrap)
    return {epoch, done, epoch, held_position(done, size_of(epoch), longest(epoch), phase.batch_size)};
  auto [pass, position] = end_of(phase, shard);
  return {epoch, done, pass, position};
}

int64_t Schedule::taken(const Phase& phase) const {
  check(phase);
  return taken_by(shard, phase);
}

int64_t Schedule::steps(const Cursor& at, int64_t batch_size) const {
  switch (last) {
    case LastBatch::wrap:
      return parts(std::max<int64_t>(0, quota(at.epoch, shard, shards) - at.done), batch_size);
    case LastBatch::pad:
      return parts(std::max<int64_t>(0, longest(at.epoch) - at.done), batch_size);
    case LastBatch::drop:
      return std::max<int64_t>(0, rest_size(at.epoch) / shards - at.done) / batch_size;
    default:
      break;
  }
  int64_t left = size_of(at.epoch) - at.position;
  if (left <= 0) return 0;
  return batch_size == 1 ? left : parts(longest(at.epoch) - at.done, batch_size);
}

int64_t Schedule::count(const Cursor& at, int64_t batch_size) const {
  if (last != LastBatch::partial || batch_size == 1) return steps(at, batch_size) > 0 ? batch_size : 0;
  int64_t left = size_of(at.epoch) - at.position;
  return std::clamp<int64_t>(left - (steps(at, batch_size) - 1), 0, batch_size);
}

std::vector<SampleId> Schedule::batch(const Cursor& at, int64_t batch_size) const {
  std::vector<SampleId> ids;
  int64_t pass = at.pass, position = at.position, wanted = count(at, batch_size);
  while (static_cast<int64_t>(ids.size()) < wanted) {
    int64_t missing = wanted - static_cast<int64_t>(ids.size());
    int64_t n = last == LastBatch::wrap ? std::min(missing, size_of(pass) - position) : missing;
    Order order(*this, pass);
    for (int64_t i = 0; i < n; i++) ids.push_back({order(position + i), pass});
    pass++;
    position = 0;
  }
  return ids;
}

void Schedule::move(Cursor& at, int64_t count) const {
  at.position += count;
  if (last != LastBatch::wrap || at.position < size_of(at.pass)) return;
  auto [pass, position] = forward({at.pass, at.position}, shard, shards);
  at.pass = pass;
  at.position = position;
}

Cursor Schedule::after(const Cursor& at, int64_t batch_size) const {
  if (steps(at, batch_size) <= 1) return next_epoch(at, batch_size);
  Cursor next = at;
  next.done += batch_size;
  move(next, count(at, batch_size));
  return next;
}

Cursor Schedule::behind(const Cursor& at, int64_t batch_size) const {
  if (last == LastBatch::drop || at.done + batch_size >= parts(epoch_size(at.epoch), shards))
    return after(at, batch_size);
  Cursor next = at;
  next.done += batch_size;
  move(next, count(at, batch_size));
  return next;
}

Cursor Schedule::next_epoch(const Cursor& at, int64_t batch_size) const {
  if (last != LastBatch::wrap) return {at.epoch + 1, 0, at.epoch + 1, 0};
  Cursor next = at;
  move(next, steps(at, batch_size) * batch_size);
  next.epoch++;
  next.done = 0;
  return next;
}

Cursor Schedule::some_after(Cursor at, int64_t batch_size, int batches) const {
  for (int i = 0; i < batches; i++) {
    const Cursor next = after(at, batch_size);
    if (next.epoch != at.epoch) break;
    at = next;
  }
  return at;
}

}  // namespace avida
