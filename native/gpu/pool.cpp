#include "gpu/pool.h"

#include <bit>
#include <iterator>
#include <utility>

namespace avida {

// Eight size classes per power of two: at most an eighth is wasted, and batches of similar size share blocks.
size_t GpuPool::rounded(size_t bytes) {
  constexpr size_t least = 512;
  if (bytes <= least) return least;
  size_t step = std::bit_floor(bytes - 1) / 8;
  return (bytes + step - 1) / step * step;
}

GpuPool::Taken GpuPool::take(size_t bytes, void* stream) {
  bytes = rounded(bytes);
  {
    std::lock_guard lock(mutex_);
    // Accepts a block that is up to a quarter larger.
    for (auto found = free_.lower_bound({stream, bytes});
         found != free_.end() && found->first.first == stream && found->first.second <= bytes + bytes / 4; found++) {
      if (found->second.empty()) continue;
      Taken block{found->second.back(), found->first.second};
      found->second.pop_back();
      kept_ -= static_cast<int64_t>(block.bytes);
      in_use_ += static_cast<int64_t>(block.bytes);
      return block;
    }
  }
  void* memory = obtain_(bytes, stream);
  if (!memory) {
    keep_at_most(0);
    memory = obtain_(bytes, stream);
  }
  std::lock_guard lock(mutex_);
  if (memory) in_use_ += static_cast<int64_t>(bytes);
  return {memory, bytes};
}

void GpuPool::give(Taken block, void* stream) noexcept {
  int64_t budget;
  {
    std::lock_guard lock(mutex_);
    in_use_ -= static_cast<int64_t>(block.bytes);
    kept_ += static_cast<int64_t>(block.bytes);
    free_[{stream, block.bytes}].push_back(block.memory);
    if (kept_ <= budget_) return;
    budget = budget_;
  }
  keep_at_most(budget);
}

void GpuPool::keep_at_most(int64_t bytes) {
  std::vector<void*> released;  // released after the lock, since cuMemFree waits for the GPU
  {
    std::lock_guard lock(mutex_);
    for (auto at = free_.begin(); at != free_.end() && kept_ > bytes;) {
      auto& [key, blocks] = *at;
      for (; !blocks.empty() && kept_ > bytes; blocks.pop_back()) {
        released.push_back(blocks.back());
        kept_ -= static_cast<int64_t>(key.second);
      }
      at = blocks.empty() ? free_.erase(at) : std::next(at);
    }
  }
  for (void* memory : released) release_(memory);
}

void GpuPool::set_budget(int64_t bytes) {
  {
    std::lock_guard lock(mutex_);
    budget_ = bytes;
  }
  keep_at_most(bytes);
}

int64_t GpuPool::in_use() const {
  std::lock_guard lock(mutex_);
  return in_use_;
}

int64_t GpuPool::kept() const {
  std::lock_guard lock(mutex_);
  return kept_;
}

int64_t GpuPool::budget() const {
  std::lock_guard lock(mutex_);
  return budget_;
}

GpuPool::Taken PinnedPool::take(size_t bytes) {
  std::vector<GpuPool::Taken> done;  // given back after the lock: the pool may have to release memory, which takes long
  {
    std::lock_guard lock(mutex_);
    while (!waiting_.empty() && waiting_.front().is_done()) {
      done.insert(done.end(), waiting_.front().blocks.begin(), waiting_.front().blocks.end());
      waiting_.pop_front();
    }
  }
  for (auto& block : done) pool_.give(block, nullptr);
  return pool_.take(bytes, nullptr);
}

void PinnedPool::give(GpuPool::Taken block, bool was_handed_over) noexcept {
  if (!was_handed_over) return pool_.give(block, nullptr);
  std::lock_guard lock(mutex_);
  returned_.push_back(block);
}

void PinnedPool::hand_over() {
  std::lock_guard lock(mutex_);
  if (returned_.empty()) return;
  if (Question is_done = mark_()) waiting_.push_back({std::exchange(returned_, {}), std::move(is_done)});
}

}  // namespace avida
