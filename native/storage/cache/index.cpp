#include "storage/cache/index.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "core/crc32c.h"
#include "storage/cache/descriptor.h"

namespace avida::storage {
namespace {

constexpr char kMagic[8] = {'a', 'v', 'i', 'd', 'a', 'c', '0', '1'};
constexpr int64_t kHeadBytes = 4096;
constexpr int64_t kBucket = 8;  // entries, in one line of the processor's cache
// Bytes of an entry: with smaller ones the table is full before the segments are. Large caches have 16 million entries.
constexpr int64_t kSmallEntry = 2 << 10, kUsualEntry = 16 << 10, kManyEntries = 16 << 20;
constexpr int64_t kLeastSegment = 64 << 10, kMostSegment = 64 << 20;
constexpr int64_t kMostSlots = int64_t{1} << 18;
constexpr uint64_t kOtherHash = 0x9e3779b97f4a7c15;
constexpr int64_t kGrowth = 4;  // how much larger a limit may become without a new index

uint64_t tag_of(uint64_t hash_or_entry) { return hash_or_entry >> 46; }

// An entry in a word: 18 bits of its hash, the generation of the segment (8), its slot (18), and the place in it (20).
uint64_t packed(uint64_t hash, const CachePlace& place) {
  return tag_of(hash) << 46 | uint64_t{place.generation} << 38 | uint64_t{place.slot} << 20 |
         static_cast<uint64_t>(place.offset / CacheIndex::kAlignment);
}
CachePlace unpacked(uint64_t entry) {
  return {static_cast<uint32_t>(entry >> 20 & (kMostSlots - 1)), static_cast<uint32_t>(entry >> 38 & 255),
          static_cast<int64_t>(entry & ((1 << 20) - 1)) * CacheIndex::kAlignment};
}

struct Sizes {
  int64_t segment_bytes, slots, buckets;

  explicit Sizes(int64_t limit)
      : segment_bytes(std::clamp(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(limit / 16))), kLeastSegment,
                                 kMostSegment)),
        slots(std::min(kGrowth * (limit / segment_bytes), kMostSlots)),
        buckets(limit / std::clamp(limit / kManyEntries, kSmallEntry, kUsualEntry) / kBucket) {}
  explicit Sizes(const CacheIndex::Head& head)
      : segment_bytes(head.segment_bytes), slots(head.slots), buckets(head.buckets) {}

  int64_t bytes() const {
    const int64_t tables = slots * int64_t{sizeof(CacheIndex::Slot)} + buckets * kBucket * int64_t{sizeof(uint64_t)};
    return kHeadBytes + (tables + kHeadBytes - 1) / kHeadBytes * kHeadBytes;
  }
  bool fit(int64_t limit) const { return limit / segment_bytes <= slots && limit >= 4 * segment_bytes + bytes(); }
  uint32_t checksum() const { return crc32c(this, sizeof(*this)); }
};

[[noreturn]] void throw_system_error(int error) { throw std::system_error(error, std::generic_category()); }

}  // namespace

void CacheIndex::create(const std::string& path, int64_t limit) {
  const Sizes sizes(limit);
  const std::string made = path + ".new";
  const Descriptor file(::open(made.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.number < 0) throw_system_error(errno);
  // All of it is there on the disk: writing to a page of a hole that the disk has no room for would end the process.
  int error = posix_fallocate(file.number, 0, sizes.bytes());
  Head head{};
  std::memcpy(head.magic, kMagic, sizeof(kMagic));
  head.segment_bytes = sizes.segment_bytes;
  head.slots = sizes.slots;
  head.buckets = sizes.buckets;
  head.checksum = sizes.checksum();
  head.limit = limit;
  if (!error && pwrite(file.number, static_cast<const void*>(&head), sizeof(head), 0) != ssize_t{sizeof(head)})
    error = errno;
  if (!error && std::rename(made.c_str(), path.c_str()) != 0) error = errno;
  if (!error) return;
  unlink(made.c_str());
  throw_system_error(error);
}

std::unique_ptr<CacheIndex> CacheIndex::open(const std::string& path, int64_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat info;
  Head head{};
  if (file.number < 0 || fstat(file.number, &info) != 0 || !S_ISREG(info.st_mode)) return nullptr;
  if (file.read(0, static_cast<void*>(&head), sizeof(head)) < ssize_t{sizeof(head)}) return nullptr;
  const Sizes sizes(head);
  const bool is_good = std::memcmp(head.magic, kMagic, sizeof(kMagic)) == 0 && head.checksum == sizes.checksum() &&
                       sizes.bytes() == info.st_size;
  if (!is_good || head.retired) return nullptr;
  if (const int error = posix_fallocate(file.number, 0, info.st_size)) throw_system_error(error);
  void* memory = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0);
  if (memory == MAP_FAILED) throw_system_error(errno);
  std::unique_ptr<CacheIndex> index(new CacheIndex(memory, head.slots, info.st_size, info.st_dev, info.st_ino));
  if (sizes.fit(limit)) return index;
  index->head().retired = 1;
  return nullptr;
}

CacheIndex::CacheIndex(void* memory, int64_t slots, int64_t bytes, uint64_t device, uint64_t inode)
    : memory_(memory),
      bytes_(bytes),
      device_(device),
      inode_(inode),
      head_(static_cast<Head*>(memory)),
      slots_(reinterpret_cast<Slot*>(static_cast<char*>(memory) + kHeadBytes)),
      entries_(reinterpret_cast<std::atomic<uint64_t>*>(reinterpret_cast<char*>(slots_ + slots))) {}

CacheIndex::~CacheIndex() { munmap(memory_, static_cast<size_t>(bytes_)); }

bool CacheIndex::is_at(const std::string& path) const {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

// With two buckets for each entry nearly all of the table can be used.
std::array<std::span<std::atomic<uint64_t>>, 2> CacheIndex::buckets(uint64_t hash) const {
  const auto count = static_cast<uint64_t>(head_->buckets);
  auto bucket = [&](uint64_t number) {
    return std::span(entries_ + static_cast<int64_t>(number % count) * kBucket, static_cast<size_t>(kBucket));
  };
  return {bucket(hash), bucket((hash ^ hash >> 29) * kOtherHash >> 8)};
}

std::vector<CachePlace> CacheIndex::places(uint64_t hash) const {
  std::vector<CachePlace> found;
  for (const auto bucket : buckets(hash)) {
    for (const auto& each : bucket) {
      const uint64_t entry = each.load(std::memory_order_acquire);
      if (entry == 0 || tag_of(entry) != tag_of(hash)) continue;
      const CachePlace place = unpacked(entry);
      if (is_live(place)) found.push_back(place);
    }
  }
  return found;
}

void CacheIndex::add(uint64_t hash, const CachePlace& place) {
  std::atomic<uint64_t>* chosen = nullptr;
  int most_free = 0;
  for (const auto bucket : buckets(hash)) {
    int free = 0;
    std::atomic<uint64_t>* last_free = nullptr;
    for (auto& each : bucket) {
      const uint64_t entry = each.load();
      if (entry == 0 || !is_live(unpacked(entry))) {
        last_free = &each;
        free++;
      } else if (tag_of(entry) == tag_of(hash)) {  // most likely the same part
        each.store(packed(hash, place), std::memory_order_release);
        return;
      }
    }
    if (free > most_free) chosen = last_free;
    most_free = std::max(most_free, free);
  }
  if (!chosen) chosen = &buckets(hash)[0][hash >> 32 & (kBucket - 1)];  // it makes room
  chosen->store(packed(hash, place), std::memory_order_release);
}

void CacheIndex::remove(uint64_t hash, const CachePlace& place) {
  for (const auto bucket : buckets(hash))
    for (auto& each : bucket) {
      uint64_t expected = packed(hash, place);
      each.compare_exchange_strong(expected, 0);
    }
}

}  // namespace avida::storage
