#include "storage/fetched.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace avida::storage {
namespace {

constexpr int64_t kNear = 64 << 10;    // bytes between two parts that take less time to read than another request
constexpr int64_t kLargest = 8 << 20;  // bytes of a request that joins parts

// An object of which parts are in memory.
class FetchedObject : public Object {
 public:
  struct Part {
    int64_t offset, bytes;
    Block data;
    std::exception_ptr error;
  };

  // Without an object, the parts were read by its name.
  FetchedObject(std::string name, ObjectPtr object, Identity identity, std::vector<Part> parts)
      : Object(identity.size),
        name_(std::move(name)),
        object_(std::move(object)),
        identity_(std::move(identity)),
        parts_(std::move(parts)) {}

  Identity identity() const override { return identity_; }
  bool is_local() const override {
    return parts_.size() == 1 && parts_[0].offset == 0 && !parts_[0].error && parts_[0].bytes == size();
  }

  void read_at(int64_t offset, void* to, int64_t bytes) const override {
    if (bytes == 0) return;
    auto behind = std::ranges::upper_bound(parts_, offset, {}, &Part::offset);
    if (behind != parts_.begin()) {
      const Part& part = *std::prev(behind);
      if (part.error && offset < part.offset + part.bytes) std::rethrow_exception(part.error);
      if (!part.error && bytes <= part.bytes && offset - part.offset <= part.bytes - bytes) {
        std::memcpy(to, static_cast<const char*>(part.data.get()) + (offset - part.offset), static_cast<size_t>(bytes));
        return;
      }
    }
    read_elsewhere(offset, to, bytes);
  }

 private:
  void read_elsewhere(int64_t offset, void* to, int64_t bytes) const {
    if (object_) return object_->read_at(offset, to, bytes);
    if (offset > size() || bytes > size() - offset)
      refuse("expected ", bytes, " bytes at byte ", offset, ", but the object has only ", size(), " bytes");
    Request request{.name = name_, .offset = offset, .bytes = bytes, .version = identity_.version};
    fetch({&request, 1});
    request.check(bytes);
    std::memcpy(to, request.data.get(), static_cast<size_t>(bytes));
  }

  const std::string name_;
  const ObjectPtr object_;
  const Identity identity_;
  const std::vector<Part> parts_;  // in order
};

using Range = std::pair<int64_t, int64_t>;

// The ranges in order, those near each other as one.
std::vector<Range> joined(std::vector<Range> ranges) {
  std::ranges::sort(ranges);
  std::vector<Range> out;
  for (auto [offset, bytes] : ranges) {
    if (!out.empty()) {
      auto& [begin, size] = out.back();
      if (size == Request::kAll) break;  // which has all that follows
      const int64_t end = bytes == Request::kAll ? INT64_MAX : std::max(begin + size, offset + bytes);
      const bool is_inside = end == begin + size;
      if (is_inside || (offset - (begin + size) <= kNear && end - begin <= kLargest)) {
        size = end - begin;
        continue;
      }
    }
    out.emplace_back(offset, bytes);
  }
  return out;
}

}  // namespace

void Needs::whole(const std::string& name) { part(name, nullptr, 0, Request::kAll); }

void Needs::beginning(const std::string& name, int64_t bytes) { part(name, nullptr, 0, bytes); }

void Needs::part(const std::string& name, const ObjectPtr& object, int64_t offset, int64_t bytes) {
  if (bytes == 0 || (object ? object->is_local() : is_local(name))) return;
  Parts& parts = parts_[name];
  parts.object = object;
  parts.ranges.emplace_back(offset, bytes);
}

Fetched::Fetched(const Needs& needs) {
  std::vector<Request> requests;
  for (auto& [name, parts] : needs.parts_)
    for (auto [offset, bytes] : joined(parts.ranges))
      requests.push_back({.name = name,
                          .offset = offset,
                          .bytes = bytes,
                          .version = parts.object ? parts.object->identity().version : std::string()});
  fetch(requests);
  for (size_t i = 0; i < requests.size();) {
    const std::string& name = requests[i].name;
    const ObjectPtr& object = needs.parts_.at(name).object;
    Identity identity = object ? object->identity() : requests[i].identity;
    std::vector<FetchedObject::Part> parts;
    std::exception_ptr error;
    for (; i < requests.size() && requests[i].name == name; i++) {
      Request& request = requests[i];
      error = request.problem();
      parts.push_back({request.offset, error ? request.bytes : request.received, request.data, error});
    }
    if (!object && error)
      found_.emplace(name, Found{nullptr, error});
    else
      found_.emplace(
          name, Found{std::make_shared<FetchedObject>(name, object, std::move(identity), std::move(parts)), nullptr});
  }
}

ObjectPtr Fetched::open(std::string name) const {
  if (found_.empty()) return storage::open(std::move(name));
  auto found = found_.find(name);
  if (found == found_.end()) return storage::open(std::move(name));
  if (found->second.error) std::rethrow_exception(found->second.error);
  return found->second.object;
}

std::string Fetched::read_text(const std::string& name) const {
  const ObjectPtr object = open(name);
  std::string text(static_cast<size_t>(object->size()), '\0');
  object->read_at(0, text.data(), object->size());
  return text;
}

const ObjectPtr& Fetched::of(const std::string& name, const ObjectPtr& object) const {
  auto found = found_.find(name);
  return found == found_.end() ? object : found->second.object;
}

}  // namespace avida::storage
