// Memory for samples: blocks are kept and reused, so that a steady loop asks the system for nothing.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/data.h"

namespace avida {

constexpr size_t kAlignment = 64;

// A block of at least `bytes` bytes, aligned to kAlignment; not cleared. Throws a memory error that names the size.
Block allocate(int64_t bytes);

struct MemoryUse {
  int64_t in_use;  // bytes handed out
  int64_t kept;    // bytes waiting to be reused
};
MemoryUse memory_use();

// How many bytes may be kept for reuse; what exceeds it goes back to the system.
void set_memory_kept(int64_t bytes);

}  // namespace avida
