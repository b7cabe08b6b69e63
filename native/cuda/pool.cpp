#include "cuda/pool.h"

#include <bit>

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
  void* memory = obtain_(bytes);
  if (!memory) {
    trim();
    memory = obtain_(bytes);
  }
  std::lock_guard lock(mutex_);
  if (memory) in_use_ += static_cast<int64_t>(bytes);
  return {memory, bytes};
}

void GpuPool::give(Taken block, void* stream) noexcept {
  std::lock_guard lock(mutex_);
  in_use_ -= static_cast<int64_t>(block.bytes);
  kept_ += static_cast<int64_t>(block.bytes);
  free_[{stream, block.bytes}].push_back(block.memory);
}

void GpuPool::trim() {
  decltype(free_) released;
  {
    std::lock_guard lock(mutex_);
    released.swap(free_);
    kept_ = 0;
  }
  for (auto& [key, blocks] : released)
    for (void* memory : blocks) release_(memory);
}

int64_t GpuPool::in_use() const {
  std::lock_guard lock(mutex_);
  return in_use_;
}

int64_t GpuPool::kept() const {
  std::lock_guard lock(mutex_);
  return kept_;
}

}  // namespace avida
