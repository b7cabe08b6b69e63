#include "storage/fetched.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/error.h"

namespace avida::storage {
namespace {

constexpr int64_t kNear = 64 << 10;    // bytes between two parts that take less time to read than another request
constexpr int64_t kLargest = 8 << 20;  // bytes of a request that joins parts

}  // namespace

// An object of which parts are in memory.
class FetchedObject : public Object {
 public:
  struct Part {
    int64_t offset, bytes;
    Block data;
    std::exception_ptr error;
  };

  FetchedObject(ObjectPtr object, std::vector<Part> parts)
      : Object(object->size()), object_(std::move(object)), parts_(std::move(parts)) {}

  Identity identity() const override { return object_->identity(); }
  bool is_local() const override {
    return parts_.size() == 1 && parts_[0].offset == 0 && !parts_[0].error && parts_[0].bytes == size();
  }

  void read_at(int64_t offset, void* to, int64_t bytes) const override {
    for (auto* at = static_cast<char*>(to); bytes > 0;) {
      const Part* part = part_at(offset);
      if (!part) return object_->read_at(offset, at, bytes);
      if (part->error) std::rethrow_exception(part->error);
      const int64_t there = std::min(bytes, part->offset + part->bytes - offset);
      std::memcpy(at, static_cast<const char*>(part->data.get()) + (offset - part->offset), static_cast<size_t>(there));
      offset += there;
      at += there;
      bytes -= there;
    }
  }

  // With the parts of both.
  std::shared_ptr<const FetchedObject> with(const FetchedObject& other) const {
    std::vector<Part> parts;
    std::ranges::merge(parts_, other.parts_, std::back_inserter(parts), {}, &Part::offset, &Part::offset);
    return std::make_shared<FetchedObject>(object_, std::move(parts));
  }
  bool has_errors() const {
    return std::ranges::any_of(parts_, [](const Part& part) { return part.error != nullptr; });
  }

 private:
  // The part that has the byte there.
  const Part* part_at(int64_t offset) const {
    auto behind = std::ranges::upper_bound(parts_, offset, {}, &Part::offset);
    if (behind == parts_.begin()) return nullptr;
    const Part& part = *std::prev(behind);
    return part.bytes == Request::kAll || offset - part.offset < part.bytes ? &part : nullptr;
  }

  const ObjectPtr object_;
  const std::vector<Part> parts_;  // in order
};

namespace {

using Range = std::pair<int64_t, int64_t>;

// A part of an object without large gaps.
struct Run {
  int64_t begin, end;                // INT64_MAX: all that follows
  std::vector<int64_t> starts = {};  // where it may be cut: where a range begins, and none goes on
};

std::vector<Run> runs_of(std::vector<Range> ranges) {
  std::ranges::sort(ranges);
  std::vector<Run> runs;
  for (auto [offset, bytes] : ranges) {
    const int64_t end = bytes == Request::kAll ? INT64_MAX : offset + bytes;
    if (runs.empty() || offset - kNear > runs.back().end) {
      runs.push_back({offset, end});
      continue;
    }
    if (offset >= runs.back().end) runs.back().starts.push_back(offset);
    runs.back().end = std::max(runs.back().end, end);
  }
  return runs;
}

// The ranges in order, those near each other as one, of about the largest size: a few more bytes in each take less time
// than one more request.
std::vector<Range> joined(std::vector<Range> ranges) {
  std::vector<Range> out;
  for (const Run& run : runs_of(std::move(ranges))) {
    int64_t begin = run.begin;
    if (run.end != INT64_MAX) {
      const int64_t parts = std::max<int64_t>(1, (run.end - run.begin + kLargest / 2) / kLargest);
      const int64_t share = (run.end - run.begin) / parts;
      for (int64_t start : run.starts) {
        if (start - begin < share || run.end - start < share / 2) continue;
        out.emplace_back(begin, start - begin);
        begin = start;
      }
    }
    out.emplace_back(begin, run.end == INT64_MAX ? Request::kAll : run.end - begin);
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

Fetched::Fetched(const Needs& needs) { *this = std::move(all_of({&needs, 1})[0]); }

std::vector<Fetched> Fetched::all_of(std::span<const Needs> needs) {
  std::vector<Request> requests;
  for (const Needs& each : needs)
    for (auto& [name, parts] : each.parts_)
      for (auto [offset, bytes] : joined(parts.ranges))
        requests.push_back({.name = name,
                            .offset = offset,
                            .bytes = bytes,
                            .version = parts.object ? parts.object->identity().version : std::string()});
  fetch(requests);
  std::vector<Fetched> fetched(needs.size());
  auto next = requests.begin();
  for (size_t i = 0; i < needs.size(); i++)
    for (auto& [name, parts] : needs[i].parts_) {
      const auto count = static_cast<int64_t>(joined(parts.ranges).size());
      fetched[i].take({next, next + count}, parts.object);
      next += count;
    }
  return fetched;
}

// The answers for one object.
void Fetched::take(std::span<Request> answers, const ObjectPtr& object) {
  const std::string& name = answers[0].name;
  std::vector<FetchedObject::Part> parts;
  std::exception_ptr error;
  for (Request& answer : answers) {
    const std::exception_ptr problem = answer.problem();
    if (!error) error = problem;
    parts.push_back({answer.offset, problem ? answer.bytes : answer.received, answer.data, problem});
  }
  if (!object && error)
    found_.emplace(name, Found{nullptr, error});
  else
    found_.emplace(name, Found{std::make_shared<FetchedObject>(
                             object ? object : opened_object(name, answers[0].identity), std::move(parts))});
}

void Fetched::add(const Fetched& other) {
  for (auto& [name, found] : other.found_) {
    Found& own = found_[name];
    if (own.error) continue;
    own = own.object && found.object ? Found{own.object->with(*found.object)} : found;
  }
}

bool Fetched::has_errors() const {
  return std::ranges::any_of(found_, [](auto& each) { return each.second.error || each.second.object->has_errors(); });
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

ObjectPtr Fetched::of(const std::string& name, const ObjectPtr& object) const {
  auto found = found_.find(name);
  return found == found_.end() ? object : ObjectPtr(found->second.object);
}

}  // namespace avida::storage
