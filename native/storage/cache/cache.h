// Caches: what was fetched of objects, kept for the next time; and which cache the reads of a thread go through.
#pragma once
#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "runtime/fork.h"
#include "storage/storage.h"

namespace avida::storage {

// A part of an object that is kept by itself: one of its blocks, which are of equal size and aligned.
struct CacheKey {
  static constexpr int64_t kIdentity = -1;  // no bytes, but what is known of the object

  std::string name;  // whole, with the service where it is
  int64_t block;

  uint64_t hash() const;
  auto operator<=>(const CacheKey&) const = default;
};

// A part that was found.
class CachedPart {
 public:
  CachedPart(Identity identity, int64_t bytes) : identity(std::move(identity)), bytes(bytes) {}
  virtual ~CachedPart() = default;
  CachedPart(const CachedPart&) = delete;
  // Returns false where the part is damaged, or has made room since it was found.
  virtual bool read(int64_t offset, void* to, int64_t bytes) const = 0;

  const Identity identity;  // of the object
  const int64_t bytes;
};

// Who fetches what in this process, so that each part is fetched once.
class Claims : ForkAware {
 public:
  bool take(uint64_t hash) {
    std::lock_guard lock(mutex_);
    return taken_.insert(hash).second;
  }
  void give_back(uint64_t hash) {
    std::lock_guard lock(mutex_);
    taken_.erase(hash);
  }

 private:
  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool in_child) override {  // the child does not have the threads that fetch
    if (in_child) taken_.clear();
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::set<uint64_t> taken_;
  ForkRegistration fork_{this, Rank::reader};
};

// Where parts are kept. Thread-safe, also in a forked child.
class BlockCache {
 public:
  virtual ~BlockCache() = default;

  virtual int64_t block_bytes() const = 0;
  virtual int64_t bytes_in_use() const = 0;
  // Whether something new would be kept now.
  virtual bool has_room() const = 0;
  // Notes bytes that were asked for in vain: what is not used meanwhile makes room.
  virtual void missed(int64_t bytes) = 0;

  // The part of that version of the object, or of any if that is empty; null if it is not there.
  virtual std::unique_ptr<CachedPart> find(const CacheKey& key, const std::string& version) = 0;
  // Says that a part will be read soon, without waiting for it.
  virtual void read_ahead(const CacheKey& /*key*/) {}
  virtual void keep(const CacheKey& key, const Identity& identity, std::span<const char> bytes) = 0;
  virtual void forget(const CacheKey& key) = 0;

  // Whether the caller is the one who fetches the part, for all who share the cache, until it gives the claim back.
  virtual bool claim(uint64_t hash) { return claims_.take(hash); }
  virtual void give_back(uint64_t hash) { claims_.give_back(hash); }

  // What has gone wrong since the last call, for a warning; empty if nothing has.
  virtual std::string take_trouble() { return {}; }

 private:
  Claims claims_;
};

// A cache as a reader uses it.
struct Cache {
  std::shared_ptr<BlockCache> blocks;
  bool check = false;  // objects may have changed: their versions are compared first
};
using CachePtr = std::shared_ptr<const Cache>;

// While it lives, objects that are not local are opened and fetched through the cache by this thread. Those that were
// opened like this stay with the cache.
class ThroughCache {
 public:
  explicit ThroughCache(CachePtr cache) : outer_(std::exchange(current_, std::move(cache))) {}
  ~ThroughCache() { current_ = std::move(outer_); }
  ThroughCache(const ThroughCache&) = delete;

  static const CachePtr& current() { return current_; }

 private:
  static inline thread_local CachePtr current_;
  CachePtr outer_;
};

}  // namespace avida::storage
