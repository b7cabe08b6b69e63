#include "cuda/pool.h"

#include <bit>
#include <iterator>

namespace avida {

// Eight steps per power of two: at most an eighth is wasted, and batches of nearly one size share blocks.
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
    // A block up to a quarter larger will do.
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
  std::vector<void*> released;  // after the lock: it waits for the GPU
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

}  // namespace avida
