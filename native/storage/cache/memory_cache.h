// A cache in the memory of a process.
#pragma once
#include <memory>

#include "storage/cache/cache.h"

namespace avida::storage {

std::shared_ptr<BlockCache> memory_cache(int64_t limit);

}  // namespace avida::storage
