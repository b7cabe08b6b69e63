// Memory for samples: blocks are kept and reused, so that a steady loop allocates nothing from the system.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/data.h"

namespace avida {

class Gpu;

constexpr size_t kAlignment = 64;

// A block of at least `bytes` bytes, aligned to kAlignment; not cleared. Throws a memory error that names the size.
Block allocate(int64_t bytes);

// Samples of these shapes in one new block, without gaps if they have one shape.
Data allocate_data(const Meta& meta, const ShapeList& shapes,
                   const std::function<Block(int64_t bytes)>& allocate = avida::allocate);

// Where the results of operators on the CPU lie.
struct ResultMemory {
  Gpu* pinned_for = nullptr;  // the GPU that reads them from pinned memory; null: in ordinary memory
  bool is_asked = true;       // otherwise ordinary memory will do where pinned memory is short
};

// The same samples in new memory. For data on the CPU.
Data copy_of(const Data& data);

// For std::allocate_shared: objects that one thread creates and another destroys, where malloc would contend.
template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}
  T* allocate(size_t n);
  void deallocate(T* p, size_t n) noexcept;
  bool operator==(const PoolAllocator&) const { return true; }
};
void* take_bytes(size_t bytes);  // throws std::bad_alloc
void give_bytes(void* p, size_t bytes) noexcept;

template <class T>
T* PoolAllocator<T>::allocate(size_t n) {
  return static_cast<T*>(take_bytes(n * sizeof(T)));
}
template <class T>
void PoolAllocator<T>::deallocate(T* p, size_t n) noexcept {
  give_bytes(p, n * sizeof(T));
}

// What this machine has, or the container that the process runs in.
int64_t memory_of_machine();

struct MemoryUse {
  int64_t in_use;  // bytes handed out
  int64_t kept;    // bytes kept for reuse
  int64_t budget;  // the maximum of kept bytes
};
MemoryUse memory_use();

// Sets the budget, and releases blocks that exceed it. A negative number restores the default: a quarter of the
// machine's memory, but at most 4 GiB.
void set_memory_budget(int64_t bytes);

}  // namespace avida
