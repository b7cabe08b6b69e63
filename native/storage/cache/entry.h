// An entry of a segment: a part of an object, with what it takes to know that it is whole and the one that is wanted.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/cache/cache.h"
#include "storage/cache/descriptor.h"

namespace avida::storage {

// What stands before the bytes of an entry.
struct EntryHead {
  static constexpr int64_t kChunk = 64 << 10;  // bytes that have one checksum, so that few are read in vain

  CacheKey key;
  Identity identity;
  int64_t bytes = 0;
  std::vector<uint32_t> checksums;  // of the chunks
  int64_t head_bytes = 0;

  static std::string encoded(const CacheKey& key, const Identity& identity, std::span<const char> bytes);
  // The head at an offset of a segment; nothing if there is none, or it is damaged.
  static std::optional<EntryHead> read(const Descriptor& segment, int64_t offset, int64_t segment_bytes);
};

}  // namespace avida::storage
