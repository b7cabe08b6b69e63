#include "storage/cache/memory_cache.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace avida::storage {
namespace {

constexpr int64_t kMostBlock = 1 << 20;
constexpr int64_t kOverhead = 256;  // of a part, in bytes
constexpr int64_t kGroups = 32;

using Content = std::shared_ptr<const std::string>;

class PartInMemory : public CachedPart {
 public:
  PartInMemory(Identity identity, Content content)
      : CachedPart(std::move(identity), std::ssize(*content)), content_(std::move(content)) {}
  bool read(int64_t offset, void* to, int64_t bytes) const override {
    std::memcpy(to, content_->data() + offset, static_cast<size_t>(bytes));
    return true;
  }

 private:
  const Content content_;
};

// Parts make room in groups, of those that came one after the other: a group is in use as long as any of them is.
class MemoryCache : public BlockCache {
 public:
  explicit MemoryCache(int64_t limit) : limit_(limit), block_(std::clamp<int64_t>(limit / 256, 1, kMostBlock)) {}

  int64_t block_bytes() const override { return block_; }
  int64_t bytes_in_use() const override {
    std::lock_guard lock(mutex_);
    return bytes_;
  }
  bool has_room() const override {
    std::lock_guard lock(mutex_);
    return clock_ >= room_at_;
  }
  void missed(int64_t bytes) override {
    std::lock_guard lock(mutex_);
    clock_ += bytes;
  }

  std::unique_ptr<CachedPart> find(const CacheKey& key, const std::string& version) override {
    std::lock_guard lock(mutex_);
    auto found = parts_.find(key);
    if (found == parts_.end()) return nullptr;
    const Part& part = found->second;
    if (!version.empty() && part.identity.version != version) return nullptr;
    part.group->used = clock_;
    return std::make_unique<PartInMemory>(part.identity, part.content);
  }

  void keep(const CacheKey& key, const Identity& identity, std::span<const char> bytes) override {
    auto content = std::make_shared<const std::string>(bytes.data(), bytes.size());
    const int64_t cost = kOverhead + std::ssize(bytes) + 2 * std::ssize(key.name) + std::ssize(identity.version);
    Parts dropped;  // end after the lock is released
    std::lock_guard lock(mutex_);
    clock_ += std::ssize(bytes);
    remove(key, dropped);
    if (!make_room(cost, dropped)) return;
    if (groups_.empty() || groups_.back().bytes + cost > limit_ / kGroups) groups_.push_back({.begun = ++clock_});
    Group& group = groups_.back();
    group.used = clock_;
    group.bytes += cost;
    group.keys.push_back(key);
    bytes_ += cost;
    parts_.emplace(key, Part{identity, std::move(content), cost, &group});
  }

  void forget(const CacheKey& key) override {
    Parts dropped;
    std::lock_guard lock(mutex_);
    remove(key, dropped);
  }

 private:
  struct Group {
    std::vector<CacheKey> keys;
    int64_t bytes = 0, used = 0, begun = 0;
  };
  struct Part {
    Identity identity;
    Content content;
    int64_t cost;
    Group* group;
  };
  using Parts = std::map<CacheKey, Part>;

  bool make_room(int64_t bytes, Parts& dropped) {
    while (bytes_ + bytes > limit_) {
      if (groups_.empty()) return false;
      const auto oldest = std::ranges::min_element(groups_, {}, &Group::used);
      if (oldest->begun > full_at_) full_at_ = clock_;
      room_at_ = std::max(oldest->used, full_at_) + limit_ / 2;
      if (clock_ < room_at_) return false;
      for (const CacheKey& key : std::vector(std::move(oldest->keys)))
        if (auto found = parts_.find(key); found != parts_.end() && found->second.group == &*oldest)
          remove(key, dropped);
      groups_.erase(oldest);
    }
    return true;
  }
  void remove(const CacheKey& key, Parts& dropped) {
    auto found = parts_.find(key);
    if (found == parts_.end()) return;
    bytes_ -= found->second.cost;
    found->second.group->bytes -= found->second.cost;
    dropped.insert(parts_.extract(found));
  }

  const int64_t limit_, block_;
  mutable ForkSafe<> mutex_{ForkAware::Rank::reader};
  std::list<Group> groups_;  // the last one is being filled
  Parts parts_;
  int64_t bytes_ = 0;
  int64_t clock_ = 0;    // bytes that were missed
  int64_t full_at_ = 0;  // the clock when all of it had been filled anew; 0: it never was
  int64_t room_at_ = 0;  // the clock before which nothing makes room
};

}  // namespace

std::shared_ptr<BlockCache> memory_cache(int64_t limit) { return std::make_shared<MemoryCache>(limit); }

}  // namespace avida::storage
