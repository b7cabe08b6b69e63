#include "storage/memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "core/made_once.h"
#include "runtime/fork.h"
#include "runtime/memory.h"
#include "storage/storage.h"

namespace avida::storage {
namespace {

using Content = std::shared_ptr<const std::string>;

class MemoryObject : public BytesObject {
 public:
  MemoryObject(Content content, int64_t version)
      : BytesObject({reinterpret_cast<const uint8_t*>(content->data()), content->size()}),
        content_(std::move(content)),
        version_(version) {}
  Identity identity() const override { return {size(), std::to_string(version_)}; }

 private:
  const Content content_;
  const int64_t version_;
};

class MemoryStore : public Store {
 public:
  bool is_local() const override { return true; }

  ObjectPtr open(const std::string& name) const override {
    std::lock_guard lock(mutex_);
    auto found = objects_.find(name);
    if (found == objects_.end()) throw MissingObject("cannot be opened: there is no object of this name in memory");
    return std::make_shared<MemoryObject>(found->second.content, found->second.version);
  }

  void get(Request& request) const override {
    const ObjectPtr object = open(request.name);
    request.identity = object->identity();
    const int64_t left = std::max<int64_t>(object->size() - request.offset, 0);
    request.received = request.bytes == Request::kAll ? left : std::min(request.bytes, left);
    request.data = allocate(request.received);
    object->read_at(request.offset, request.data.get(), request.received);
  }

  void list(const std::string& folder, bool deep, const OnEntry& on_entry) const override {
    EntriesOf entries(folder, deep, on_entry);
    for (const std::string& name : names(folder)) entries.add(name);
  }

  void put(const std::string& name, Content content) {
    std::lock_guard lock(mutex_);
    Stored& stored = objects_[name];
    stored.version = ++versions_;
    stored.content.swap(content);
  }
  bool remove(const std::string& name) {
    std::lock_guard lock(mutex_);
    return objects_.erase(name) > 0;
  }
  Content find(const std::string& name) const {
    std::lock_guard lock(mutex_);
    auto found = objects_.find(name);
    return found == objects_.end() ? nullptr : found->second.content;
  }
  std::vector<std::string> names(const std::string& beginning) const {
    std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (auto at = objects_.lower_bound(beginning); at != objects_.end() && at->first.starts_with(beginning); ++at)
      names.push_back(at->first);
    return names;
  }

 private:
  struct Stored {
    Content content;
    int64_t version = 0;
  };

  mutable ForkSafe<> mutex_{ForkAware::Rank::reader};
  std::map<std::string, Stored> objects_;
  int64_t versions_ = 0;
};

MemoryStore& store() {
  static constinit MadeOnce<const std::shared_ptr<MemoryStore>> made;  // while the library is loaded
  return *made.get([] { return std::make_unique<const std::shared_ptr<MemoryStore>>(new MemoryStore); });
}

[[maybe_unused]] const bool registered = [] {
  register_store("memory", std::static_pointer_cast<const Store>(store().shared_from_this()));
  return true;
}();

}  // namespace

void put_in_memory(const std::string& name, std::span<const uint8_t> bytes) {
  store().put(name, std::make_shared<const std::string>(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

bool remove_from_memory(const std::string& name) { return store().remove(name); }

std::optional<std::string> find_in_memory(const std::string& name) {
  const Content found = store().find(name);
  return found ? std::optional(*found) : std::nullopt;
}

std::vector<std::string> names_in_memory() { return store().names(""); }

}  // namespace avida::storage
