#include "storage/storage.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "core/made_once.h"
#include "runtime/fork.h"
#include "runtime/memory.h"
#include "storage/cache/cached_store.h"
#include "storage/fetched.h"
#include "storage/local.h"

namespace avida::storage {
namespace {

constexpr std::string_view kBehindScheme = "://";
constexpr std::string_view kSchemesOfHttp[] = {"az", "gs", "hf", "http", "https", "s3"};
constexpr int64_t kWindow = 1 << 20;  // of what is read in order: as much as arrives in the time of a few requests

// The stores by their schemes.
class Registry {
 public:
  void set(const std::string& scheme, std::shared_ptr<const Store> store) {
    std::lock_guard lock(mutex_);
    stores_[scheme].swap(store);
  }
  void remove(const std::string& scheme) {
    std::shared_ptr<const Store> removed;  // ends after the lock is released
    std::lock_guard lock(mutex_);
    if (auto found = stores_.find(scheme); found != stores_.end()) {
      removed = std::move(found->second);
      stores_.erase(found);
    }
  }
  std::shared_ptr<const Store> find(std::string_view scheme) {
    std::lock_guard lock(mutex_);
    auto found = stores_.find(scheme);
    return found == stores_.end() ? nullptr : found->second;
  }
  std::string schemes() {
    std::lock_guard lock(mutex_);
    std::string names = "file";
    for (auto& [scheme, store] : stores_) names += str(", ", scheme);
    return names;
  }
  static Registry& instance() {
    static constinit MadeOnce<Registry> registry;  // stores register while the library is loaded
    return registry.get();
  }

 private:
  ForkSafe<> mutex_{ForkAware::Rank::reader};
  std::map<std::string, std::shared_ptr<const Store>, std::less<>> stores_;
};

// A store, and the name of an object in it.
struct Place {
  std::shared_ptr<const Store> store;
  std::string name;
};

Place place_of(const std::string& name) {
  const std::string_view scheme = scheme_of(name);
  if (scheme.empty() || scheme == "file") return {local_store(), local_path(name)};
  auto store = Registry::instance().find(scheme);
  if (!store && std::ranges::find(kSchemesOfHttp, scheme) != std::end(kSchemesOfHttp))
    refuse("this build has no libcurl or no simdjson: ", scheme, kBehindScheme, " cannot be read");
  if (!store)
    refuse("no store is registered for ", scheme, kBehindScheme, "; there are: ", Registry::instance().schemes(),
           ". A path that begins like this is written ./", name);
  return {std::move(store), name.substr(scheme.size() + kBehindScheme.size())};
}

Place cached_place_of(const std::string& name) {
  Place place = place_of(name);
  if (ThroughCache::current() && !place.store->is_local())
    place.store = cached_store(std::move(place.store), scheme_of(name), ThroughCache::current());
  return place;
}

// An object of a store that is asked for each range.
class StoredObject : public Object {
 public:
  StoredObject(std::shared_ptr<const Store> store, std::string name, Identity identity)
      : Object(identity.size), store_(std::move(store)), name_(std::move(name)), version_(identity.version) {}

  Identity identity() const override { return {size(), version_}; }
  bool is_local() const override { return store_->is_local(); }
  void read_at(int64_t offset, void* to, int64_t bytes) const override {
    if (bytes == 0) return;
    Request request{.name = name_, .offset = offset, .bytes = bytes, .version = version_};
    store_->fetch({&request, 1});
    request.check(bytes);
    std::memcpy(to, request.data.get(), static_cast<size_t>(bytes));
  }

 private:
  const std::shared_ptr<const Store> store_;
  const std::string name_, version_;
};

class ObjectInOrder : public Object {
 public:
  explicit ObjectInOrder(ObjectPtr object) : Object(object->size()), object_(std::move(object)) {}

  Identity identity() const override { return object_->identity(); }
  bool is_local() const override { return false; }
  void read_at(int64_t offset, void* to, int64_t bytes) const override {
    if (bytes >= kWindow || offset + bytes > size()) return object_->read_at(offset, to, bytes);
    if (offset < begin_ || offset + bytes > begin_ + std::ssize(window_)) {
      begin_ = size();  // the window has nothing if the read fails
      window_.resize(static_cast<size_t>(std::min(kWindow, size() - offset)));
      object_->read_at(offset, window_.data(), std::ssize(window_));
      begin_ = offset;
    }
    std::memcpy(to, window_.data() + (offset - begin_), static_cast<size_t>(bytes));
  }

 private:
  const ObjectPtr object_;
  mutable int64_t begin_ = 0;
  mutable std::vector<char> window_;
};

}  // namespace

void BytesObject::read_at(int64_t offset, void* to, int64_t bytes) const {
  if (offset > size() || bytes > size() - offset)
    refuse("expected ", bytes, " bytes at byte ", offset, ", but there are only ", size(), " bytes");
  if (bytes > 0) std::memcpy(to, bytes_.data() + offset, static_cast<size_t>(bytes));
}

std::exception_ptr Request::problem() const {
  if (error || version.empty() || version == identity.version) return error;
  return std::make_exception_ptr(
      Error(ErrorKind::runtime, str("the object changed after it was opened: expected version ", version, ", found ",
                                    identity.version.empty() ? "none" : identity.version)));
}

void Request::check(int64_t least) const {
  if (auto found = problem()) std::rethrow_exception(found);
  if (received < least)
    refuse("expected ", least, " bytes at byte ", offset, ", but the object has only ", identity.size, " bytes");
}

EntriesOf::EntriesOf(const std::string& folder, bool deep, const OnEntry& on_entry)
    : prefix_(folder.empty() || folder.ends_with('/') ? folder : folder + '/'), deep_(deep), on_entry_(on_entry) {}

void EntriesOf::add(std::string_view name) {
  if (!name.starts_with(prefix_)) return;
  name.remove_prefix(prefix_.size());
  const size_t end = name.find('/');
  if (name.empty() || (deep_ && name.ends_with('/'))) return;
  const std::string_view folder = name.substr(0, end);
  const bool is_file = deep_ || end == name.npos;
  if (!is_file && folders_.find(folder) != folders_.end()) return;
  if (is_file) return on_entry_({name, false});
  folders_.emplace(folder);
  on_entry_({folder, true});
}

ObjectPtr Store::open(const std::string& name) const {
  Request request{.name = name, .bytes = 0};
  fetch({&request, 1});
  request.check();
  return std::make_shared<StoredObject>(shared_from_this(), name, request.identity);
}

void register_store(const std::string& scheme, std::shared_ptr<const Store> store) {
  if (scheme.empty() || scheme_of(str(scheme, kBehindScheme)) != scheme || scheme == "file")
    value_error("expected a scheme of two or more letters other than \"file\", such as \"s3\", got \"", scheme, '"');
  Registry::instance().set(scheme, std::move(store));
}

void unregister_store(const std::string& scheme) { Registry::instance().remove(scheme); }

std::string_view scheme_of(std::string_view name) {
  const size_t end = name.find(':');
  if (end == name.npos || end < 2 || !name.substr(end).starts_with(kBehindScheme)) return {};
  const std::string_view scheme = name.substr(0, end);
  auto is_letter = [](char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z'); };
  auto fits = [&](char c) { return is_letter(c) || ('0' <= c && c <= '9') || c == '+' || c == '-' || c == '.'; };
  return is_letter(scheme[0]) && std::ranges::all_of(scheme, fits) ? scheme : std::string_view();
}

bool is_local(std::string_view name) {
  const std::string_view scheme = scheme_of(name);
  if (scheme.empty() || scheme == "file") return true;
  auto store = Registry::instance().find(scheme);
  return store && store->is_local();
}

ObjectPtr open(std::string name) {
  if (scheme_of(name).empty()) return open_file(std::move(name));  // without a lock
  const Place place = cached_place_of(name);
  return place.store->open(place.name);
}

ObjectPtr opened_object(const std::string& name, const Identity& identity) {
  Place place = cached_place_of(name);
  return std::make_shared<StoredObject>(std::move(place.store), std::move(place.name), identity);
}

std::vector<Opened> open_all(const std::vector<std::string>& names) {
  std::vector<Request> asked;
  for (const std::string& name : names)
    if (!is_local(name)) asked.push_back({.name = name, .bytes = 0});
  fetch(asked);
  std::vector<Opened> opened;
  for (size_t next = 0; const std::string& name : names) {
    try {
      if (is_local(name)) {
        opened.push_back({open(name)});
        opened.back().object->rest();
        continue;
      }
      const Request& request = asked[next++];
      request.check();
      opened.push_back({opened_object(name, request.identity)});
    } catch (const Error&) {
      opened.push_back({nullptr, std::current_exception()});
    }
  }
  return opened;
}

std::string read_text(const std::string& name) {
  Needs needs;
  needs.whole(name);
  return Fetched(needs).read_text(name);
}

Identity identity(const std::string& name) {
  const Place place = cached_place_of(name);
  Request request{.name = place.name, .bytes = 0};
  place.store->fetch({&request, 1});
  request.check();
  return request.identity;
}

bool exists(const std::string& name) {
  if (is_local_path(name)) return local_path_exists(local_path(name));
  try {
    identity(name);
    return true;
  } catch (const MissingObject&) {
    return false;
  }
}

void fetch(std::span<Request> requests) {
  struct Part {
    std::shared_ptr<const Store> store;
    std::vector<size_t> which;
    std::vector<Request> requests;
  };
  std::map<std::string_view, Part> parts;  // by scheme
  for (size_t i = 0; i < requests.size(); i++) {
    try {
      Place place = cached_place_of(requests[i].name);
      Part& part = parts[scheme_of(requests[i].name)];
      part.store = std::move(place.store);
      part.which.push_back(i);
      part.requests.push_back(requests[i]);
      part.requests.back().name = std::move(place.name);
    } catch (...) {
      requests[i].error = std::current_exception();
    }
  }
  for (auto& [scheme, part] : parts) {
    part.store->fetch(part.requests);
    for (size_t i = 0; i < part.which.size(); i++) {
      std::swap(part.requests[i].name, requests[part.which[i]].name);
      requests[part.which[i]] = std::move(part.requests[i]);
    }
  }
}

void list(const std::string& folder, bool deep, const OnEntry& on_entry) {
  const Place place = place_of(folder);
  place.store->list(place.name, deep, on_entry);
}

ObjectPtr in_order(ObjectPtr object) {
  return object->is_local() ? std::move(object) : std::make_shared<ObjectInOrder>(std::move(object));
}

}  // namespace avida::storage
