#include "storage/cache/cached_store.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "runtime/memory.h"
#include "storage/waiting.h"

namespace avida::storage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kLargest = 8 << 20;                 // bytes of a request for several blocks
constexpr auto kWake = std::chrono::milliseconds(2);  // to look for what another process fetches
constexpr auto kPatience = std::chrono::seconds(30);  // then it is fetched here, too: that one may have stopped

// The requests of one call: what is cached is read, the rest is asked for by blocks and kept.
class CachedFetch {
 public:
  CachedFetch(const Store& store, const std::string& scheme, const Cache& cache, std::span<Request> requests)
      : store_(store), cache_(*cache.blocks), check_(cache.check), block_(cache_.block_bytes()) {
    for (Request& request : requests) {
      const std::string service = store.service(request.name);
      tasks_.push_back({&request, str(scheme, "://", request.name, service.empty() ? "" : str(" at ", service))});
    }
  }
  ~CachedFetch() { give_back_claims(); }
  CachedFetch(const CachedFetch&) = delete;

  void run() {
    if (check_) compare_versions();
    for (Task& task : tasks_)
      if (!task.is_done) cache_.read_ahead(task.first_key(block_));
    for (Task& task : tasks_)
      if (!task.is_done) answer(task);
    const auto patient_until = Clock::now() + kPatience;
    while (!std::ranges::all_of(tasks_, &Task::is_done)) {
      is_patient_ = Clock::now() < patient_until;
      for (Task& task : tasks_)
        if (!task.is_done && (!cache_.has_room() || !plan(task))) direct_.push_back(&task);
      if (units_.empty() && direct_.empty()) std::this_thread::sleep_for(kWake);
      Interruptible::check();
      ask();
      ask_directly();
      for (Task& task : tasks_)
        if (!task.is_done) answer(task);
    }
  }

 private:
  struct Task {
    Request* request;
    std::string name;   // of the object, in the cache
    int64_t size = -1;  // of the object, where the store has said it
    bool is_done = false;
    int failures = 0;  // to put it together from parts that are all there

    bool is_whole() const { return request->offset == 0 && request->bytes == Request::kAll; }
    CacheKey key(int64_t block) const { return {name, block}; }
    CacheKey first_key(int64_t block_bytes) const {
      return key(request->bytes == 0 ? CacheKey::kIdentity : request->offset / block_bytes);
    }
  };
  // What the store is asked for: some blocks of an object, all of it, or what it is.
  struct Unit {
    Request request;
    std::string name;
    std::vector<CacheKey> keys;
  };
  struct Fetched {
    Identity identity{};
    Block data{};  // of the whole answer
    int64_t received = 0, offset = 0, bytes = 0;
    std::exception_ptr error{};
    bool is_pinned = false;  // a version was asked for
  };
  class FetchedPart : public CachedPart {
   public:
    explicit FetchedPart(const Fetched& from) : CachedPart(from.identity, from.bytes), from_(from) {}
    bool read(int64_t offset, void* to, int64_t bytes) const override {
      std::memcpy(to, static_cast<const char*>(from_.data.get()) + from_.offset + offset, static_cast<size_t>(bytes));
      return true;
    }

   private:
    const Fetched& from_;
  };

  // Takes the versions of all objects from the store, so that what is cached has to be of those.
  void compare_versions() {
    std::map<std::string, size_t> numbers;
    std::vector<Request> asked;
    for (const Task& task : tasks_)
      if (task.request->version.empty() && numbers.try_emplace(task.request->name, asked.size()).second)
        asked.push_back({.name = task.request->name, .bytes = 0});
    store_.fetch(asked);
    for (Task& task : tasks_) {
      if (!task.request->version.empty()) continue;
      const Request& answered = asked[numbers.at(task.request->name)];
      task.request->error = answered.problem();
      task.request->identity = answered.identity;
      task.request->version = answered.identity.version;
      task.size = answered.identity.size;
      task.is_done = task.request->error || task.request->bytes == 0;
      if (!task.request->error) cache_.keep(task.key(CacheKey::kIdentity), answered.identity, {});
    }
  }

  std::unique_ptr<CachedPart> find(const Task& task, int64_t block, const std::string& version) const {
    std::unique_ptr<CachedPart> found;
    const CacheKey wanted = task.key(block);
    if (auto own = fetched_.find(wanted); own != fetched_.end() && !own->second.error) {
      found = std::make_unique<FetchedPart>(own->second);
      if (!version.empty() && found->identity.version != version) found.reset();
    } else {
      found = cache_.find(wanted, version);
    }
    return found && task.size >= 0 && found->identity.size != task.size ? nullptr : std::move(found);
  }

  // Answers a request from what is there, where that is all of it.
  void answer(Task& task) {
    Request& request = *task.request;
    if (request.bytes == 0) {
      auto found = find(task, CacheKey::kIdentity, request.version);
      if (!found) found = find(task, 0, request.version);
      if (found) request.identity = found->identity;
      task.is_done = found != nullptr;
      return;
    }
    const int64_t first = request.offset / block_;
    auto part = find(task, first, request.version);
    if (!part) return;
    const Identity identity = part->identity;
    const int64_t left = std::max<int64_t>(identity.size - request.offset, 0);
    const int64_t bytes = request.bytes == Request::kAll ? left : std::min(request.bytes, left);
    Block data = fetched_as_one(task, bytes);
    if (!data) {
      data = allocate(bytes);
      if (!read_blocks(task, identity, std::move(part), static_cast<char*>(data.get()), bytes)) return;
    }
    request.identity = identity;
    request.received = bytes;
    request.data = std::move(data);
    task.is_done = true;
  }

  // What was fetched for this request alone needs no copy.
  Block fetched_as_one(const Task& task, int64_t bytes) const {
    auto own = fetched_.find(task.first_key(block_));
    if (own == fetched_.end() || !own->second.data || own->second.offset > 0) return nullptr;
    return task.request->offset % block_ == 0 && own->second.received >= bytes ? own->second.data : nullptr;
  }

  bool read_blocks(const Task& task, const Identity& identity, std::unique_ptr<CachedPart> part, char* to,
                   int64_t bytes) {
    for (int64_t done = 0; done < bytes;) {
      const int64_t at = task.request->offset + done, block = at / block_, inside = at % block_;
      if (done > 0 && !(part = find(task, block, identity.version))) return false;
      const int64_t n = std::min(bytes - done, block_ - inside);
      if (part->identity != identity || part->bytes < inside + n || !part->read(inside, to + done, n)) {
        cache_.forget(task.key(block));
        return false;
      }
      done += n;
    }
    return true;
  }

  // Adds what a request lacks, and nobody else fetches, to what is asked for. Returns false where the request is to go
  // to the store as it is.
  bool plan(Task& task) {
    const Request& request = *task.request;
    if (request.bytes == 0) return want(task, CacheKey::kIdentity, request.version);
    if (request.bytes == Request::kAll && request.offset > 0) return false;
    const int64_t first = request.offset / block_;
    const auto begin = find(task, first, request.version);
    if (task.is_whole() && !begin) return want(task, 0, request.version);
    const std::string version = begin ? begin->identity.version : request.version;
    int64_t end = task.is_whole() ? begin->identity.size : request.offset + request.bytes;
    if (begin) end = std::min(end, begin->identity.size);
    bool is_lacking = false;
    for (int64_t block = first; block * block_ < end; block++) {
      if (block == first ? begin != nullptr : find(task, block, version) != nullptr) continue;
      is_lacking = true;
      if (!want(task, block, version)) return false;
      if (task.is_done) return true;
    }
    if (is_lacking || task.failures++ == 0) return true;  // all has come by now
    forget_object(task.name);                             // the parts do not belong together
    return false;
  }

  // Returns false where the store has another version than this request may have.
  bool want(Task& task, int64_t block, const std::string& version) {
    CacheKey wanted = task.key(block);
    if (auto known = fetched_.find(wanted); known != fetched_.end()) {
      const Fetched& found = known->second;
      if (!found.error || (found.is_pinned && task.request->version.empty())) return false;
      task.request->error = found.error;
      task.is_done = true;
      return true;
    }
    if (planned_.contains(wanted) || !claim(wanted, version)) return true;
    planned_.insert(wanted);
    const bool is_all = task.is_whole() && block == 0;
    if (continues(task, block, version)) {
      units_.back().request.bytes += block_;
      units_.back().keys.push_back(std::move(wanted));
      return true;
    }
    Unit& unit = units_.emplace_back();
    unit.name = task.name;
    unit.request.name = task.request->name;
    unit.request.offset = std::max<int64_t>(block, 0) * block_;
    unit.request.bytes = block == CacheKey::kIdentity ? 0 : is_all ? Request::kAll : block_;
    unit.request.version = version;
    unit.keys.push_back(std::move(wanted));
    return true;
  }

  // Whether a block belongs to the request that was planned last.
  bool continues(const Task& task, int64_t block, const std::string& version) const {
    if (units_.empty() || block <= 0) return false;
    const Unit& last = units_.back();
    return last.request.bytes > 0 && last.keys.back().block + 1 == block && last.name == task.name &&
           last.request.version == version && last.request.bytes + block_ <= kLargest;
  }

  // Whether this call fetches a part; not if another one does, or it has just come.
  bool claim(const CacheKey& wanted, const std::string& version) {
    const uint64_t hash = wanted.hash();
    if (!cache_.claim(hash)) return !is_patient_;
    claims_.push_back(hash);
    if (!cache_.find(wanted, version)) return true;
    claims_.pop_back();
    cache_.give_back(hash);
    return false;
  }

  // Asks for all that was planned, and keeps it. Nothing is waited for that others fetch.
  void ask() {
    std::vector<Request> asked;
    for (const Unit& unit : units_) asked.push_back(unit.request);
    if (!asked.empty()) store_.fetch(asked);
    for (size_t k = 0; k < asked.size(); k++) take(units_[k], asked[k]);
    units_.clear();
    planned_.clear();
    give_back_claims();
  }

  void take(const Unit& unit, const Request& answered) {
    if (const auto error = answered.problem()) {
      for (const CacheKey& each : unit.keys) fetched_[each] = {.error = error, .is_pinned = !answered.version.empty()};
      if (!answered.version.empty()) forget_object(unit.name);
      return;
    }
    const Identity& identity = answered.identity;
    if (answered.bytes == 0) {
      fetched_[unit.keys[0]].identity = identity;
      return cache_.keep(unit.keys[0], identity, {});
    }
    const int64_t first = answered.offset / block_, end = answered.offset + answered.received;
    for (int64_t block = first; block == first || block * block_ < end; block++) {
      const int64_t offset = block * block_ - answered.offset, bytes = std::min(answered.received - offset, block_);
      if (bytes < block_ && end < identity.size) break;  // a part of a block
      const CacheKey key{unit.name, block};
      fetched_[key] = {identity, answered.data, answered.received, offset, bytes};
      const auto* data = static_cast<const char*>(answered.data.get());
      cache_.keep(key, identity, {bytes > 0 ? data + offset : nullptr, static_cast<size_t>(bytes)});
    }
  }

  // What is cached may be of a version that is no more.
  void forget_object(const std::string& name) {
    cache_.forget({name, CacheKey::kIdentity});
    cache_.forget({name, 0});
  }

  void ask_directly() {
    std::vector<Request> asked;
    for (const Task* task : direct_) asked.push_back(*task->request);
    if (!asked.empty()) store_.fetch(asked);
    for (size_t k = 0; k < asked.size(); k++) {
      cache_.missed(asked[k].received);
      *direct_[k]->request = std::move(asked[k]);
      direct_[k]->is_done = true;
    }
    direct_.clear();
  }

  void give_back_claims() {
    for (uint64_t hash : claims_) cache_.give_back(hash);
    claims_.clear();
  }

  const Store& store_;
  BlockCache& cache_;
  const bool check_;
  const int64_t block_;
  bool is_patient_ = true;
  std::vector<Task> tasks_;
  std::vector<Task*> direct_;  // which the store is to answer as they are
  std::vector<Unit> units_;
  std::set<CacheKey> planned_;    // of all units
  std::vector<uint64_t> claims_;  // of all units
  std::map<CacheKey, Fetched> fetched_;
};

class CachedStore : public Store {
 public:
  CachedStore(std::shared_ptr<const Store> store, std::string_view scheme, CachePtr cache)
      : store_(std::move(store)), scheme_(scheme), cache_(std::move(cache)) {}

  int most_requests() const override { return store_->most_requests(); }
  std::string service(const std::string& name) const override { return store_->service(name); }
  void get(Request& request) const override { fetch({&request, 1}); }
  void list(const std::string& folder, bool deep, const OnEntry& on_entry) const override {
    store_->list(folder, deep, on_entry);
  }
  void fetch(std::span<Request> requests) const override { CachedFetch(*store_, scheme_, *cache_, requests).run(); }

 private:
  const std::shared_ptr<const Store> store_;
  const std::string scheme_;
  const CachePtr cache_;
};

}  // namespace

std::shared_ptr<const Store> cached_store(std::shared_ptr<const Store> store, std::string_view scheme, CachePtr cache) {
  return std::make_shared<const CachedStore>(std::move(store), scheme, std::move(cache));
}

}  // namespace avida::storage
