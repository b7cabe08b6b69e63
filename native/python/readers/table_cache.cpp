#include "python/readers/table_cache.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace avida::python {

TableCache::TableCache(std::vector<Part> parts, int64_t limit, bool forget)
    : parts_(std::move(parts)), limit_(limit), forget_(forget) {}

TableCache::Found TableCache::get(std::span<const int64_t> needed, std::span<const int64_t> soon, const Load& load,
                                  const std::function<void()>& interrupt) {
  Found found;
  std::set<int64_t> failed;  // of those that are not needed yet
  std::unique_lock lock(mutex_);
  const uint64_t now = ++clock_;
  while (true) {
    int64_t missing = -1;
    bool waits = false;
    for (int64_t part : needed) {
      if (found.contains(part)) continue;
      const auto entry = entries_.find(part);
      if (entry == entries_.end()) {
        missing = part;
        break;
      }
      entry->second.used = now;
      if (entry->second.part)
        found[part] = entry->second.part;
      else
        waits = true;
    }
    if (missing >= 0) {
      begin_pass_with(missing);
      found[missing] = this->load(missing, load, lock);
      continue;
    }
    if (!waits) return found;
    const auto next = std::ranges::find_if(soon, [&](int64_t part) {
      return !is_there(part) && !failed.contains(part) && !done_.contains(part) && has_room(part);
    });
    if (next != soon.end()) {
      try {
        this->load(*next, load, lock);
      } catch (const FailureError&) {  // whoever needs it reports that
        failed.insert(*next);
      }
      continue;
    }
    if (changed_.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::no_timeout) continue;
    lock.unlock();
    interrupt();
    lock.lock();
  }
}

TablePartPtr TableCache::load(int64_t part, const Load& load, std::unique_lock<std::mutex>& lock) {
  const Part& about = parts_[static_cast<size_t>(part)];
  entries_[part] = {nullptr, about.rows, ++clock_};
  bytes_ += about.bytes;
  loads_++;
  make_room(part);
  lock.unlock();
  TablePartPtr loaded;
  try {
    loaded = load(part);
  } catch (...) {
    lock.lock();
    if (entries_.erase(part) > 0) bytes_ -= about.bytes;
    changed_.notify_all();
    throw;
  }
  lock.lock();
  if (auto entry = entries_.find(part); entry != entries_.end()) entry->second.part = loaded;
  note_bytes(part, loaded->bytes);
  changed_.notify_all();
  return loaded;
}

// A part that is needed again is of the next pass.
void TableCache::begin_pass_with(int64_t part) {
  if (done_.contains(part)) done_.clear();
}

bool TableCache::has_room(int64_t part) const { return bytes_ + parts_[static_cast<size_t>(part)].bytes <= limit_; }

// Of a part that is there. What files say of it may be far too little.
void TableCache::note_bytes(int64_t part, int64_t bytes) {
  int64_t& known = parts_[static_cast<size_t>(part)].bytes;
  bytes_ += bytes - known;
  known = bytes;
  make_room(part);
}

// Drops what was not used for the longest time.
void TableCache::make_room(int64_t newest) {
  while (bytes_ > limit_) {
    auto oldest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
      if (entry->first != newest && entry->second.part &&
          (oldest == entries_.end() || entry->second.used < oldest->second.used))
        oldest = entry;
    if (oldest == entries_.end()) return;
    bytes_ -= parts_[static_cast<size_t>(oldest->first)].bytes;
    entries_.erase(oldest);
  }
}

void TableCache::took(int64_t part, int64_t rows) {
  if (!forget_) return;
  std::lock_guard lock(mutex_);
  const auto entry = entries_.find(part);
  if (entry == entries_.end() || !entry->second.part) return;
  entry->second.rows_left -= rows;
  if (entry->second.rows_left > 0) return;
  bytes_ -= parts_[static_cast<size_t>(part)].bytes;
  entries_.erase(entry);
  done_.insert(part);
}

int64_t TableCache::loads() const {
  std::lock_guard lock(mutex_);
  return loads_;
}

void TableCache::after_fork(bool in_child) {
  if (in_child) {
    new (&changed_) std::condition_variable;
    std::erase_if(entries_, [&](const auto& entry) {
      if (entry.second.part) return false;
      bytes_ -= parts_[static_cast<size_t>(entry.first)].bytes;
      return true;
    });
  }
  mutex_.unlock();
}

}  // namespace avida::python
