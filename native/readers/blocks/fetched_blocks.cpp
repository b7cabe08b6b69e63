#include "readers/blocks/fetched_blocks.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>

#include "storage/waiting.h"

namespace avida {
namespace {

constexpr auto kWake = std::chrono::milliseconds(20);  // to look for interrupts

}  // namespace

FetchedBlocks::FetchedBlocks(std::shared_ptr<const Source> source, std::shared_ptr<const BlockOrder> order, int depth,
                             bool in_background)
    : source_(std::move(source)), order_(std::move(order)), depth_(depth), in_background_(in_background) {}

FetchedBlocks::Numbers FetchedBlocks::blocks_of(std::span<const SampleId> ids) const {
  Numbers blocks;
  for (const SampleId& id : ids) blocks.insert(order_->block_of(id.index).first);
  return blocks;
}

void FetchedBlocks::announce(int64_t batch, std::span<const SampleId> ids) {
  const Numbers needed = blocks_of(ids);
  std::lock_guard lock(mutex_);
  for (int64_t number : needed) {
    const auto [block, is_new] = blocks_.try_emplace(number);
    block->second.until = std::max(block->second.until, batch);
    if (is_new) named_.push_back(number);
  }
}

storage::Fetched FetchedBlocks::get(int64_t batch, std::span<const SampleId> ids) {
  Numbers needed = blocks_of(ids);
  std::vector<Parts> got;
  std::unique_lock lock(mutex_);
  for (int64_t number : needed) blocks_[number].until = std::max(blocks_[number].until, batch);
  while (!needed.empty()) {
    const Numbers missing = take_there(needed, got);
    if (!missing.empty()) {
      fetch(missing, lock, got);
      for (int64_t number : missing) needed.erase(number);
    } else if (!needed.empty() && changed_.wait_for(lock, kWake) == std::cv_status::timeout) {
      lock.unlock();
      storage::Interruptible::check();
      lock.lock();
    }
  }
  drop_before(batch - depth_);
  start_thread();
  lock.unlock();
  storage::Fetched all;
  for (const Parts& parts : got) all.add(*parts);
  return all;
}

// Moves what is there from what is needed to what there is; returns what nobody fetches. Called with the lock.
FetchedBlocks::Numbers FetchedBlocks::take_there(Numbers& needed, std::vector<Parts>& got) const {
  Numbers missing;
  for (auto number = needed.begin(); number != needed.end();) {
    const auto block = blocks_.find(*number);
    if (block != blocks_.end() && block->second.state == Block::there) {
      got.push_back(block->second.parts);
      number = needed.erase(number);
      continue;
    }
    if (block == blocks_.end() || block->second.state == Block::named) missing.insert(*number);
    number++;
  }
  return missing;
}

// Called with the lock. What could not be fetched is in the answer, and is asked for again next time.
void FetchedBlocks::fetch(const Numbers& numbers, std::unique_lock<std::mutex>& lock, std::vector<Parts>& got) {
  const storage::ThroughCache through(source_->cache);
  for (int64_t number : numbers) blocks_[number].state = Block::under_way;
  lock.unlock();
  std::vector<storage::Fetched> fetched;
  try {
    std::vector<storage::Needs> needs;
    for (int64_t number : numbers) {
      needs.emplace_back();
      const int64_t end = order_->block_of(number).end;
      for (int64_t sample = number; sample < end; sample++) source_->name_needs(sample, needs.back());
    }
    fetched = storage::Fetched::all_of(needs);
  } catch (...) {
    lock.lock();
    for (int64_t number : numbers) blocks_[number].state = Block::named;
    changed_.notify_all();
    throw;
  }
  lock.lock();
  for (size_t i = 0; int64_t number : numbers) {
    auto parts = std::make_shared<const storage::Fetched>(std::move(fetched[i++]));
    got.push_back(parts);
    Block& block = blocks_[number];
    block.state = parts->has_errors() ? Block::named : Block::there;
    if (block.state == Block::there) block.parts = std::move(parts);
  }
  changed_.notify_all();
}

void FetchedBlocks::drop_before(int64_t batch) {
  std::erase_if(blocks_,
                [&](auto& each) { return each.second.until < batch && each.second.state != Block::under_way; });
}

// As many as there is room for.
FetchedBlocks::Numbers FetchedBlocks::next_named() {
  auto room = 2 * order_->window() -
              std::ranges::count_if(blocks_, [](auto& each) { return each.second.state != Block::named; });
  Numbers next;
  for (; !named_.empty() && room > 0; named_.pop_front()) {
    const auto block = blocks_.find(named_.front());
    if (block == blocks_.end() || block->second.state != Block::named) continue;
    next.insert(named_.front());
    room--;
  }
  return next;
}

// Called with the lock.
void FetchedBlocks::start_thread() {
  if (!in_background_ || is_working_ || named_.empty() || stop_) return;
  try {
    std::thread([self = shared_from_this()] { self->work(); }).detach();
    is_working_ = true;
  } catch (const std::system_error&) {  // then get() fetches them
  }
}

void FetchedBlocks::work() {
  const auto until_stopped = [this] {
    if (stop_) throw Stopped();
  };
  std::unique_lock lock(mutex_);
  try {
    std::vector<Parts> got;
    for (Numbers next = next_named(); !next.empty() && !stop_; next = next_named(), got.clear())
      storage::interruptibly(until_stopped, [&] { fetch(next, lock, got); });
  } catch (...) {  // whoever needs them fetches them, and has the error
  }
  is_working_ = false;
  changed_.notify_all();
}

void FetchedBlocks::join(std::chrono::steady_clock::time_point latest) {
  std::unique_lock lock(mutex_);
  while (is_working_ && std::chrono::steady_clock::now() < latest) changed_.wait_for(lock, kWake);
}

bool FetchedBlocks::try_before_fork() { return mutex_.try_lock(); }

// The child has no threads: what they were fetching is fetched again.
void FetchedBlocks::after_fork(bool in_child) {
  if (in_child) {
    new (&changed_) std::condition_variable;
    for (auto& [number, block] : blocks_)
      if (block.state == Block::under_way) block.state = Block::named;
    is_working_ = false;
  }
  mutex_.unlock();
}

}  // namespace avida
