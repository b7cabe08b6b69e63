#include "readers/plan.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "readers/permutation.h"

namespace avida {
namespace {

constexpr int64_t kMost = int64_t{1} << 53;  // of any number in a state
constexpr int64_t kMostPasses = 100'000;     // by which shards drift apart

// All shards must deal alike, whatever seeds their users give them.
constexpr uint64_t kDealingKey = 0x5EED0FDEA1;

int64_t parts(int64_t n, int64_t size) { return (n + size - 1) / size; }

// Where part k of n begins when all are as equal as can be.
int64_t part_begin(int64_t size, int64_t part, int64_t n) {
  return static_cast<int64_t>(static_cast<__int128>(size) * part / n);
}

int64_t part_size(int64_t size, int64_t part, int64_t n) {
  return part_begin(size, part + 1, n) - part_begin(size, part, n);
}

}  // namespace

// The samples of one pass of one shard, by position.
class Plan::Order {
 public:
  Order(const Plan& plan, int64_t pass) : plan_(plan), pass_(pass), shards_(plan.shards) {
    auto rest = plan.rests_.find(pass);
    if (rest != plan.rests_.end()) {
      rest_ = &rest->second;
      shards_ = rest_->shards;
    }
    int64_t all = plan.rest_size(pass);
    int part = plan.part_of(plan.shard, pass, plan.shards);
    first_ = part_begin(all, part, plan.shards);
    size_ = part_size(all, part, plan.shards);
    all_ = all;
    if (plan.shuffle == Shuffle::all) deal_.emplace(plan.samples, plan.seed, pass);
    if (plan.shuffle == Shuffle::shard && shards_ > 1) deal_.emplace(plan.samples, kDealingKey, 0);
  }

  int64_t operator()(int64_t position) {
    // A shard that has nothing left repeats what is nearest.
    int64_t i = std::min(first_ + std::min(position, std::max<int64_t>(size_ - 1, 0)), all_ - 1);
    if (rest_) i = place_in(*rest_, i);
    if (plan_.shuffle == Shuffle::shard) i = shuffled(i);
    if (deal_) i = (*deal_)(i);
    return plan_.order ? (*plan_.order)[i] : i;
  }

 private:
  static int64_t place_in(const Rest& rest, int64_t i) {
    for (const Range& range : rest.ranges) {
      if (i < range.end - range.begin) return range.begin + i;
      i -= range.end - range.begin;
    }
    return 0;
  }

  // Within the shard that the place belongs to; shards have one of two sizes.
  int64_t shuffled(int64_t i) {
    auto n = static_cast<int64_t>(plan_.samples);
    auto part = static_cast<int64_t>((static_cast<__int128>(i + 1) * shards_ - 1) / n);
    int64_t first = part_begin(n, part, shards_), size = part_size(n, part, shards_);
    auto& order = orders_[size % 2];
    if (!order) order.emplace(size, plan_.seed, pass_);
    return first + (*order)(i - first);
  }

  const Plan& plan_;
  int64_t pass_;
  int shards_;  // that gave the pass its order
  const Rest* rest_ = nullptr;
  int64_t first_ = 0, size_ = 0, all_ = 0;
  std::optional<Permutation> orders_[2], deal_;
};

int Plan::part_of(int64_t shard, int64_t pass, int shards) const {
  return static_cast<int>(stick ? shard : (shard + pass) % shards);
}

int64_t Plan::rest_size(int64_t pass) const {
  auto rest = rests_.find(pass);
  return rest == rests_.end() ? samples : rest->second.size;
}

int64_t Plan::size_of(int64_t pass) const { return part_size(rest_size(pass), part_of(shard, pass, shards), shards); }

int64_t Plan::longest(int64_t pass) const { return parts(rest_size(pass), shards); }

int64_t Plan::epoch_size(int64_t epoch) const {
  if (last != Last::wrap) return rest_size(epoch);
  return resumed_ && epoch == first_epoch_ ? left_in_first_epoch_ : samples;
}

int64_t Plan::quota(int64_t epoch) const { return part_size(epoch_size(epoch), part_of(shard, epoch, shards), shards); }

int64_t Plan::padded_samples() const { return last == Last::pad ? parts(samples, shards) * shards : samples; }

// Where a shard of some size stands when the longest ones have taken `taken`. One sample is held back for the last step
// from a shard that would have none for it.
int64_t Plan::held_position(int64_t taken, int64_t size, int64_t longest, int64_t batch_size) const {
  if (last == Last::pad) return taken;
  bool held = last == Last::partial && batch_size > 1 && taken == size && size > 0 && longest > size;
  return held ? size - 1 : std::min(taken, size);
}

void Plan::go_on_from(const std::vector<Phase>& phases) {
  first_epoch_ = 0;
  left_in_first_epoch_ = samples;
  for (const Phase& phase : phases) {
    check(phase);
    // Whole rounds that all shards have behind them. Two are left, since shards of different sizes drift apart.
    int64_t longest_part = parts(samples, phase.shards), cycle = stick ? longest_part : samples;
    int64_t rounds = last == Last::wrap && rests_.empty() ? std::max<int64_t>(0, phase.taken / cycle - 2) : 0;
    // What each part of each pass has lost, and where the slowest shard stands.
    std::map<int64_t, std::vector<int64_t>> lost;
    int64_t left_in_epoch = 0, slowest = INT64_MAX;
    for (int s = 0; s < phase.shards; s++) {
      int64_t pass = phase.base + rounds * (stick ? 1 : phase.shards);
      int64_t taken = phase.taken - rounds * (stick ? part_size(samples, s, phase.shards) : samples);
      for (int64_t walked = 0;; walked++) {
        if (walked > kMostPasses) fail(ErrorKind::value, "the state is not that of a run over these samples");
        int part = part_of(s, pass, phase.shards);
        int64_t size = part_size(rest_size(pass), part, phase.shards);
        int64_t gone =
            last == Last::wrap
                ? std::min(taken, size)
                : std::min(size, held_position(taken, size, parts(rest_size(pass), phase.shards), phase.batch_size));
        auto& of_pass = lost[pass];
        of_pass.resize(phase.shards);
        of_pass[part] = gone;
        if (last != Last::wrap || gone < size) break;
        taken -= gone;
        pass++;
        if (taken == 0 && rest_size(pass) > 0) break;
      }
      slowest = std::min(slowest, pass);
      int64_t all = epoch_size(phase.epoch);
      left_in_epoch +=
          std::max<int64_t>(0, part_size(all, part_of(s, phase.epoch, phase.shards), phase.shards) - phase.done);
    }
    for (auto& [pass, gone] : lost) {
      auto [rest, is_new] = rests_.try_emplace(pass);
      if (is_new) rest->second = {{{0, samples}}, samples, phase.shards};
      gone.resize(phase.shards);
      Rest next{{}, 0, rest->second.shards};
      for (int part = 0; part < phase.shards; part++) {
        int64_t begin = part_begin(rest->second.size, part, phase.shards) + gone[part];
        int64_t end = part_begin(rest->second.size, part + 1, phase.shards);
        int64_t at = 0;
        for (const Range& range : rest->second.ranges) {
          int64_t from = std::max(begin, at), to = std::min(end, at + range.end - range.begin);
          if (from < to) next.ranges.push_back({range.begin + from - at, range.begin + to - at});
          at += range.end - range.begin;
        }
        next.size += std::max<int64_t>(0, end - begin);
      }
      rest->second = std::move(next);
    }
    resumed_ = true;
    base = last == Last::wrap ? slowest : phase.epoch;
    first_epoch_ = phase.epoch;
    left_in_first_epoch_ = left_in_epoch;
    rests_.erase(rests_.begin(), rests_.lower_bound(base));
  }
}

void Plan::check(const Phase& phase) const {
  bool sane = phase.shards >= 1 && phase.shards <= samples && phase.batch_size >= 1 && phase.base <= phase.epoch;
  for (int64_t number : {phase.base, phase.taken, phase.epoch, phase.done, phase.batch_size})
    sane = sane && number >= 0 && number <= kMost;
  if (!sane) fail(ErrorKind::value, "the state is not that of a run over these samples");
}

// Behind the passes with gaps, sizes repeat: after one pass, or after each shard has had its turn.
std::pair<int64_t, int64_t> Plan::round() const {
  return stick ? std::pair(part_size(samples, shard, shards), 1) : std::pair(samples, shards);
}

Cursor Plan::cursor(int64_t epoch, int64_t done, int64_t taken, int64_t batch_size) const {
  if (std::max({epoch, done, taken, base}) > kMost)
    fail(ErrorKind::value, "expected a place in a run below 2**53, got epoch ", epoch, ", sample ", done);
  if (last != Last::wrap) return {epoch, done, epoch, held_position(done, size_of(epoch), longest(epoch), batch_size)};
  Cursor at{epoch, done, base, 0};
  move(at, taken);
  return at;
}

int64_t Plan::taken(const Cursor& at) const {
  if (last != Last::wrap) return at.done;
  int64_t count = at.position;
  for (int64_t pass = base; pass < at.pass;) {
    auto [size, passes] = round();
    int64_t rounds = has_gaps_from(pass) ? 0 : (at.pass - pass) / passes;
    count += rounds > 0 ? rounds * size : size_of(pass);
    pass += rounds > 0 ? rounds * passes : 1;
  }
  return count;
}

int64_t Plan::steps(const Cursor& at, int64_t batch_size) const {
  switch (last) {
    case Last::wrap:
      return parts(std::max<int64_t>(0, quota(at.epoch) - at.done), batch_size);
    case Last::pad:
      return parts(std::max<int64_t>(0, longest(at.epoch) - at.done), batch_size);
    case Last::drop:
      return std::max<int64_t>(0, rest_size(at.epoch) / shards - at.done) / batch_size;
    default:
      break;
  }
  int64_t left = size_of(at.epoch) - at.position;
  if (left <= 0) return 0;
  return batch_size == 1 ? left : parts(longest(at.epoch) - at.done, batch_size);
}

int64_t Plan::count(const Cursor& at, int64_t batch_size) const {
  if (last != Last::partial || batch_size == 1) return steps(at, batch_size) > 0 ? batch_size : 0;
  int64_t left = size_of(at.epoch) - at.position;
  return std::clamp<int64_t>(left - (steps(at, batch_size) - 1), 0, batch_size);
}

std::vector<SampleId> Plan::batch(const Cursor& at, int64_t batch_size) const {
  std::vector<SampleId> ids;
  int64_t pass = at.pass, position = at.position, wanted = count(at, batch_size);
  while (static_cast<int64_t>(ids.size()) < wanted) {
    int64_t missing = wanted - static_cast<int64_t>(ids.size());
    int64_t n = last == Last::wrap ? std::min(missing, size_of(pass) - position) : missing;
    Order order(*this, pass);
    for (int64_t i = 0; i < n; i++) ids.push_back({order(position + i), pass});
    pass++;
    position = 0;
  }
  return ids;
}

void Plan::move(Cursor& at, int64_t count) const {
  at.position += count;
  if (last != Last::wrap) return;
  for (int64_t own; at.position >= (own = size_of(at.pass));) {
    auto [size, passes] = round();
    int64_t rounds = has_gaps_from(at.pass) ? 0 : at.position / size;
    at.position -= rounds > 0 ? rounds * size : own;
    at.pass += rounds > 0 ? rounds * passes : 1;
  }
}

Cursor Plan::after(const Cursor& at, int64_t batch_size) const {
  if (steps(at, batch_size) <= 1) return next_epoch(at, batch_size);
  Cursor next = at;
  next.done += batch_size;
  move(next, count(at, batch_size));
  return next;
}

Cursor Plan::behind(const Cursor& at, int64_t batch_size) const {
  if (last == Last::drop || at.done + batch_size >= parts(epoch_size(at.epoch), shards)) return after(at, batch_size);
  Cursor next = at;
  next.done += batch_size;
  move(next, count(at, batch_size));
  return next;
}

Cursor Plan::next_epoch(const Cursor& at, int64_t batch_size) const {
  if (last != Last::wrap) return {at.epoch + 1, 0, at.epoch + 1, 0};
  Cursor next = at;
  move(next, steps(at, batch_size) * batch_size);
  next.epoch++;
  next.done = 0;
  return next;
}

}  // namespace avida
