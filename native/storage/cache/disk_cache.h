// A cache in a folder, which all processes of the node share.
#pragma once
#include <memory>
#include <string>

#include "storage/cache/cache.h"

namespace avida::storage {

// The same one for all who ask for the folder. The newest limit holds for all. Throws where the folder cannot be used;
// a full disk is told by take_trouble().
std::shared_ptr<BlockCache> disk_cache(const std::string& folder, int64_t limit);

// What the limit of a cache may be.
constexpr int64_t kLeastCacheLimit = 1'000'000, kMostCacheLimit = int64_t{1} << 44;

}  // namespace avida::storage
