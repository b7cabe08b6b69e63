#include "readers/blocks/fetched_blocks.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "storage/waiting.h"

namespace avida {
namespace {

constexpr auto kWake = std::chrono::milliseconds(20);  // to look for interrupts
constexpr int64_t kUses = 16;                          // of each block in so many samples, on average

}  // namespace

FetchedBlocks::FetchedBlocks(std::shared_ptr<const Source> source, std::shared_ptr<const BlockOrder> order)
    : source_(std::move(source)),
      order_(std::move(order)),
      most_(static_cast<size_t>(2 * order_->window() + 1)),
      stale_(kUses * order_->window()) {}

std::set<int64_t> FetchedBlocks::blocks_of(std::span<const SampleId> ids) const {
  std::set<int64_t> blocks;
  for (const SampleId& id : ids) blocks.insert(order_->block_of(id.index).first);
  return blocks;
}

storage::Fetched FetchedBlocks::get(std::span<const SampleId> ids) {
  std::set<int64_t> needed = blocks_of(ids);
  std::map<int64_t, Part> got;
  std::unique_lock lock(mutex_);
  read_ += std::ssize(ids);
  while (true) {
    std::set<int64_t> missing;
    for (auto block = needed.begin(); block != needed.end();) {
      auto found = kept_.find(*block);
      if (found == kept_.end()) missing.insert(*block);
      if (found == kept_.end() || !found->second.part) {
        block++;
        continue;
      }
      found->second.used = read_;
      got.emplace(*block, found->second.part);
      block = needed.erase(block);
    }
    if (needed.empty()) break;
    if (missing.empty()) {
      if (fetched_.wait_for(lock, kWake) == std::cv_status::no_timeout) continue;
      lock.unlock();
      storage::Interruptible::check();
      lock.lock();
      continue;
    }
    fetch(missing, lock, got);
    for (int64_t block : missing) needed.erase(block);
  }
  drop_old();
  start_thread();
  lock.unlock();
  storage::Fetched all;
  for (auto& [block, part] : got) all.add(*part);
  return all;
}

// Called with the lock. What could not be fetched is in the answer, and is asked for again next time.
void FetchedBlocks::fetch(const std::set<int64_t>& blocks, std::unique_lock<std::mutex>& lock,
                          std::map<int64_t, Part>& got) {
  for (int64_t block : blocks) kept_[block] = {};
  lock.unlock();
  std::vector<storage::Fetched> parts;
  try {
    std::vector<storage::Needs> needs(blocks.size());
    for (size_t i = 0; int64_t block : blocks) {
      for (int64_t sample = block; sample < order_->block_of(block).end; sample++)
        source_->name_needs(sample, needs[i]);
      i++;
    }
    parts = storage::Fetched::all_of(needs);
  } catch (...) {
    lock.lock();
    for (int64_t block : blocks) kept_.erase(block);
    fetched_.notify_all();
    throw;
  }
  lock.lock();
  for (size_t i = 0; int64_t block : blocks) {
    auto part = std::make_shared<const storage::Fetched>(std::move(parts[i++]));
    got.emplace(block, part);
    if (part->has_errors())
      kept_.erase(block);
    else
      kept_[block].part = std::move(part);
  }
  fetched_.notify_all();
}

// Blocks that were not used for long, and those used least recently where there are too many.
void FetchedBlocks::drop_old() {
  std::erase_if(kept_, [&](auto& each) {
    const Kept& kept = each.second;
    return kept.part && kept.used > 0 && read_ - kept.used > stale_;
  });
  while (kept_.size() > most_) {
    auto oldest = kept_.end();
    for (auto each = kept_.begin(); each != kept_.end(); each++)
      if (each->second.part && (oldest == kept_.end() || each->second.used < oldest->second.used)) oldest = each;
    if (oldest == kept_.end()) break;
    kept_.erase(oldest);
  }
}

void FetchedBlocks::announce(std::span<const SampleId> ids) {
  const std::set<int64_t> blocks = blocks_of(ids);
  std::lock_guard lock(mutex_);
  announced_.insert(blocks.begin(), blocks.end());
}

// As many as there is room for.
std::set<int64_t> FetchedBlocks::next_announced() {
  drop_old();
  std::set<int64_t> next;
  for (auto block = announced_.begin(); block != announced_.end() && kept_.size() + next.size() < most_;) {
    if (!kept_.contains(*block)) next.insert(*block);
    block = announced_.erase(block);
  }
  return next;
}

// Called with the lock.
void FetchedBlocks::start_thread() {
  if (is_working_ || announced_.empty() || stop_) return;
  try {
    std::thread([self = shared_from_this()] { self->work(); }).detach();
    is_working_ = true;
  } catch (const std::system_error&) {  // then get() fetches them
  }
}

void FetchedBlocks::work() {
  std::unique_lock lock(mutex_);
  for (auto next = next_announced(); !next.empty() && !stop_; next = next_announced()) {
    try {
      std::map<int64_t, Part> got;
      storage::interruptibly(
          [this] {
            if (stop_) throw Stopped();
          },
          [&] { fetch(next, lock, got); });
    } catch (...) {
      break;  // whoever needs them fetches them, and has the error
    }
  }
  if (!lock.owns_lock()) lock.lock();
  is_working_ = false;
  fetched_.notify_all();
}

void FetchedBlocks::stop() { stop_ = true; }

void FetchedBlocks::join(std::chrono::steady_clock::time_point latest) {
  std::unique_lock lock(mutex_);
  while (is_working_ && std::chrono::steady_clock::now() < latest) fetched_.wait_for(lock, kWake);
}

bool FetchedBlocks::try_before_fork() { return mutex_.try_lock(); }

// The child has no threads: what they were fetching is fetched again.
void FetchedBlocks::after_fork(bool in_child) {
  if (in_child) {
    new (&fetched_) std::condition_variable;
    std::erase_if(kept_, [](auto& each) { return !each.second.part; });
    is_working_ = false;
  }
  mutex_.unlock();
}

}  // namespace avida
