// The index of a cache on a disk: where entries are, in memory that all processes of the node share.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace avida::storage {

// Where an entry is, if it still is: a segment's place in the table of segments, its number there, and bytes in it.
struct CachePlace {
  uint32_t slot, generation;
  int64_t offset;
};

// A file that is mapped: how large everything is, a table of segments, and a table of entries by their hashes. Whatever
// happens to a process, another one finds entries that are there or are found to be something else when they are read:
// each is one word, and says nothing that is not checked.
class CacheIndex {
 public:
  static constexpr int64_t kAlignment = 64;      // of entries
  static constexpr uint32_t kGenerations = 255;  // from 1 on

  struct Slot {
    enum State : uint32_t { free, live, foreign };
    std::atomic<uint32_t> state, generation;
    std::atomic<int64_t> end;    // of what has been taken of the segment
    std::atomic<int64_t> used;   // the clock when it was used last
    std::atomic<int64_t> begun;  // the clock when it became the one that is filled
  };
  struct Head {
    char magic[8];
    int64_t segment_bytes, slots, buckets;  // do not change
    uint32_t checksum;                      // of these
    std::atomic<uint32_t> retired;          // nobody uses it any more: there is a new one
    std::atomic<int64_t> limit;
    std::atomic<int64_t> clock;    // bytes that were missed
    std::atomic<int64_t> full_at;  // the clock when all of it had been filled anew; 0: it never was
    std::atomic<int64_t> room_at;  // the clock before which nothing makes room
    std::atomic<uint64_t> active;  // the segment that is being filled: its slot and generation; 0: none
  };

  // Makes the file, under another name first. Throws std::system_error.
  static void create(const std::string& path, int64_t limit);
  // Null where there is no such file, or it is damaged or made for limits of another kind.
  static std::unique_ptr<CacheIndex> open(const std::string& path, int64_t limit);
  ~CacheIndex();
  CacheIndex(const CacheIndex&) = delete;

  Head& head() const { return *head_; }
  Slot& slot(uint32_t number) const { return slots_[number]; }
  uint32_t slots() const { return static_cast<uint32_t>(head_->slots); }
  int64_t bytes() const { return bytes_; }
  // Whether the path still leads to this file.
  bool is_at(const std::string& path) const;

  bool is_live(const CachePlace& place) const {
    if (place.slot >= slots()) return false;
    const Slot& found = slots_[place.slot];
    return found.state.load(std::memory_order_acquire) == Slot::live && found.generation == place.generation;
  }
  // Where entries with this hash may be.
  std::vector<CachePlace> places(uint64_t hash) const;
  void add(uint64_t hash, const CachePlace& place);
  void remove(uint64_t hash, const CachePlace& place);

 private:
  CacheIndex(void* memory, int64_t slots, int64_t bytes, uint64_t device, uint64_t inode);
  std::array<std::span<std::atomic<uint64_t>>, 2> buckets(uint64_t hash) const;

  void* const memory_;
  const int64_t bytes_;
  const uint64_t device_, inode_;
  Head* const head_;
  Slot* const slots_;
  std::atomic<uint64_t>* const entries_;
};

}  // namespace avida::storage
