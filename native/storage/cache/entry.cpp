#include "storage/cache/entry.h"

#include <algorithm>
#include <cstring>

#include "core/crc32c.h"

namespace avida::storage {
namespace {

constexpr uint32_t kMagic = 0x3a65c0de;
constexpr int64_t kFirstRead = 1024;  // bytes, which hold nearly all heads

// The name, the version and the checksums follow.
struct Fixed {
  uint32_t magic = kMagic, checksum = 0;  // of the head, in which the checksum is 0
  uint32_t name_bytes = 0, version_bytes = 0;
  int64_t block = 0, object_bytes = 0, bytes = 0;

  int64_t chunks() const { return (bytes + EntryHead::kChunk - 1) / EntryHead::kChunk; }
  int64_t head_bytes() const {
    return static_cast<int64_t>(sizeof(Fixed)) + name_bytes + version_bytes + chunks() * int64_t{sizeof(uint32_t)};
  }
};

}  // namespace

std::string EntryHead::encoded(const CacheKey& key, const Identity& identity, std::span<const char> bytes) {
  Fixed fixed{.name_bytes = static_cast<uint32_t>(key.name.size()),
              .version_bytes = static_cast<uint32_t>(identity.version.size()),
              .block = key.block,
              .object_bytes = identity.size,
              .bytes = std::ssize(bytes)};
  std::string head(reinterpret_cast<const char*>(&fixed), sizeof(fixed));
  head += key.name;
  head += identity.version;
  for (int64_t i = 0; i < fixed.chunks(); i++) {
    const uint32_t sum = crc32c(bytes.data() + i * kChunk, std::min(kChunk, fixed.bytes - i * kChunk));
    head.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  }
  fixed.checksum = crc32c(head.data(), std::ssize(head));
  std::memcpy(head.data(), &fixed, sizeof(fixed));
  return head;
}

std::optional<EntryHead> EntryHead::read(const Descriptor& segment, int64_t offset, int64_t segment_bytes) {
  std::string text(kFirstRead, '\0');
  text.resize(static_cast<size_t>(segment.read(offset, text.data(), kFirstRead)));
  Fixed fixed;
  if (text.size() < sizeof(fixed)) return {};
  std::memcpy(&fixed, text.data(), sizeof(fixed));
  if (fixed.magic != kMagic || fixed.bytes < 0 || fixed.bytes > segment_bytes || fixed.object_bytes < 0) return {};
  const int64_t size = fixed.head_bytes();
  if (size > segment_bytes) return {};
  if (const int64_t known = std::ssize(text); size > known) {
    text.resize(static_cast<size_t>(size));
    if (segment.read(offset + known, text.data() + known, size - known) != size - known) return {};
  }
  const uint32_t sum = std::exchange(fixed.checksum, 0);
  std::memcpy(text.data(), &fixed, sizeof(fixed));
  if (crc32c(text.data(), size) != sum) return {};
  const char* at = text.data() + sizeof(fixed);
  EntryHead head{{std::string(at, fixed.name_bytes), fixed.block},
                 {fixed.object_bytes, std::string(at + fixed.name_bytes, fixed.version_bytes)},
                 fixed.bytes,
                 std::vector<uint32_t>(static_cast<size_t>(fixed.chunks())),
                 size};
  at += fixed.name_bytes + fixed.version_bytes;
  if (!head.checksums.empty()) std::memcpy(head.checksums.data(), at, head.checksums.size() * sizeof(uint32_t));
  return head;
}

}  // namespace avida::storage
