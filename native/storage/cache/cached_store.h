// A store whose objects are read through a cache.
#pragma once
#include <memory>
#include <string>

#include "storage/cache/cache.h"

namespace avida::storage {

std::shared_ptr<const Store> cached_store(std::shared_ptr<const Store> store, std::string_view scheme, CachePtr cache);

}  // namespace avida::storage
