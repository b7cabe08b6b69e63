#include "storage/cache/cache.h"

namespace avida::storage {

uint64_t CacheKey::hash() const {
  uint64_t hash = 0xcbf29ce484222325 ^ static_cast<uint64_t>(block);
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

}  // namespace avida::storage
