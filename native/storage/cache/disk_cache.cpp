#include "storage/cache/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <thread>

#include "core/crc32c.h"
#include "core/error.h"
#include "storage/cache/entry.h"
#include "storage/cache/index.h"
#include "storage/waiting.h"

namespace avida::storage {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kOwnFolder = "avida-cache";
constexpr std::string_view kSegment = "segment-", kSegmentMagic = "avida-segment-01";
constexpr int64_t kSegmentHead = CacheIndex::kAlignment;
constexpr int64_t kMostBlock = 1 << 20;        // arrives in about the time of another request
constexpr int64_t kLatest = int64_t{1} << 60;  // bytes
constexpr int64_t kReadAhead = 128 << 10;
constexpr size_t kOpenSegments = 32;
constexpr auto kPause = std::chrono::seconds(60);  // after a full disk
constexpr auto kWake = std::chrono::milliseconds(2);
constexpr long kNetworks[] = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, 0xFF534D42 /*CIFS*/, 0x0BD00BD0 /*Lustre*/,
                              0x00C36400 /*Ceph*/};

bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

// Locks of the process on bytes of a file. The kernel drops them with the process, and a child has none of them.
class ByteLocks {
 public:
  explicit ByteLocks(const std::string& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (file_.number < 0) throw std::system_error(errno, std::generic_category());
  }
  // Returns false where another process has it.
  bool take(int64_t byte) const { return set(byte, F_WRLCK) == 0 || (errno != EAGAIN && errno != EACCES); }
  void give_back(int64_t byte) const { set(byte, F_UNLCK); }
  bool is_at(const std::string& path) const {
    struct stat there, here;
    return stat(path.c_str(), &there) == 0 && fstat(file_.number, &here) == 0 && there.st_dev == here.st_dev &&
           there.st_ino == here.st_ino;
  }

 private:
  int set(int64_t byte, int kind) const {
    struct flock what = {};
    what.l_type = static_cast<decltype(what.l_type)>(kind);
    what.l_whence = SEEK_SET;
    what.l_start = byte;
    what.l_len = 1;
    return fcntl(file_.number, F_SETLK, &what);
  }
  const Descriptor file_;
};

// For changes of the table of segments: one thread of the node has it.
class NodeLock {
 public:
  static constexpr int64_t kByte = 0, kFirstClaim = 1;

  NodeLock(ForkSafe<>& mutex, const ByteLocks& locks) : lock_(mutex), locks_(locks) {
    while (!locks_.take(kByte)) {
      std::this_thread::sleep_for(kWake);
      Interruptible::check();
    }
  }
  ~NodeLock() { locks_.give_back(kByte); }
  NodeLock(const NodeLock&) = delete;

 private:
  const std::lock_guard<ForkSafe<>> lock_;
  const ByteLocks& locks_;
};

class PartOnDisk : public CachedPart {
 public:
  PartOnDisk(std::shared_ptr<const Descriptor> segment, int64_t offset, EntryHead head)
      : CachedPart(head.identity, head.bytes), segment_(std::move(segment)), offset_(offset), head_(std::move(head)) {}

  bool read(int64_t offset, void* to, int64_t bytes) const override {
    auto* out = static_cast<char*>(to);
    while (bytes > 0) {
      const int64_t chunk = offset / EntryHead::kChunk, begin = chunk * EntryHead::kChunk;
      const int64_t end = std::min(begin + EntryHead::kChunk, head_.bytes);
      const int64_t wanted = std::min(bytes, end - offset);
      if (wanted == end - begin) {
        if (!read_chunk(chunk, out, wanted)) return false;
      } else {
        std::string text(static_cast<size_t>(end - begin), '\0');
        if (!read_chunk(chunk, text.data(), end - begin)) return false;
        std::memcpy(out, text.data() + (offset - begin), static_cast<size_t>(wanted));
      }
      out += wanted;
      offset += wanted;
      bytes -= wanted;
    }
    return true;
  }

 private:
  bool read_chunk(int64_t chunk, char* to, int64_t bytes) const {
    return segment_->read(offset_ + head_.head_bytes + chunk * EntryHead::kChunk, to, bytes) == bytes &&
           crc32c(to, bytes) == head_.checksums[static_cast<size_t>(chunk)];
  }

  const std::shared_ptr<const Descriptor> segment_;
  const int64_t offset_;
  const EntryHead head_;
};

class DiskCache : public BlockCache {
 public:
  DiskCache(std::string folder, std::shared_ptr<const ByteLocks> locks, int64_t limit)
      : folder_(std::move(folder)), locks_(std::move(locks)) {
    const NodeLock lock(changing_, *locks_);
    try {
      index_ = CacheIndex::open(index_path(), limit);
      if (!index_) {
        remove_strangers();
        CacheIndex::create(index_path(), limit);
        index_ = CacheIndex::open(index_path(), limit);
      }
    } catch (const std::system_error& error) {
      if (!is_full(error.code().value())) throw;
      fail(error.code().value());
    }
    if (!index_) return;
    mend();
    remove_strangers();
    set_limit_locked(limit);
  }

  // Whether it is the one that another process finds.
  bool is_current() const { return index_ && !index_->head().retired && index_->is_at(index_path()); }
  bool can_have(int64_t limit) const { return limit / segment_bytes() <= index_->slots() && limit >= least_limit(); }
  void set_limit(int64_t limit) {
    if (index_->head().limit == limit) return;
    const NodeLock lock(changing_, *locks_);
    set_limit_locked(limit);
  }

  int64_t block_bytes() const override { return index_ ? std::min(kMostBlock, segment_bytes() / 16) : kMostBlock; }
  int64_t bytes_in_use() const override {
    if (!index_) return 0;
    int64_t bytes = index_->bytes();
    for (uint32_t i = 0; i < index_->slots(); i++)
      if (index_->slot(i).state == Slot::live) bytes += std::clamp<int64_t>(index_->slot(i).end, 0, segment_bytes());
    return bytes;
  }

  bool has_room() const override {
    if (!index_ || index_->head().retired || Clock::now().time_since_epoch().count() < paused_until_) return false;
    const CacheIndex::Head& head = index_->head();
    return head.active != 0 || head.clock >= head.room_at;
  }
  void missed(int64_t bytes) override {
    if (index_) index_->head().clock += bytes;
  }

  std::unique_ptr<CachedPart> find(const CacheKey& key, const std::string& version) override {
    if (!index_) return nullptr;
    for (const CachePlace& place : index_->places(key.hash())) {
      const auto file = segment(place);
      if (!file) continue;
      auto head = EntryHead::read(*file, place.offset, segment_bytes());
      if (!head || head->key != key || (!version.empty() && head->identity.version != version)) continue;
      note_use(index_->slot(place.slot));
      return std::make_unique<PartOnDisk>(file, place.offset, std::move(*head));
    }
    return nullptr;
  }

  void read_ahead(const CacheKey& key) override {
    if (!index_) return;
    for (const CachePlace& place : index_->places(key.hash()))
      if (const auto file = segment(place)) posix_fadvise(file->number, place.offset, kReadAhead, POSIX_FADV_WILLNEED);
  }

  void keep(const CacheKey& key, const Identity& identity, std::span<const char> bytes) override {
    missed(std::ssize(bytes));
    if (!has_room()) return;
    const std::string head = EntryHead::encoded(key, identity, bytes);
    const auto place = take_place(std::ssize(head) + std::ssize(bytes));
    if (!place) return;
    const auto file = segment(*place);
    if (!file) return;
    int error = file->write(place->offset, head.data(), std::ssize(head));
    if (!error) error = file->write(place->offset + std::ssize(head), bytes.data(), std::ssize(bytes));
    if (error) return fail(error);
    if (index_->is_live(*place)) index_->add(key.hash(), *place);
  }

  void forget(const CacheKey& key) override {
    if (!index_) return;
    for (const CachePlace& place : index_->places(key.hash())) index_->remove(key.hash(), place);
  }

  bool claim(uint64_t hash) override {
    if (!BlockCache::claim(hash)) return false;
    if (locks_->take(byte_of(hash))) return true;
    BlockCache::give_back(hash);
    return false;
  }
  void give_back(uint64_t hash) override {
    locks_->give_back(byte_of(hash));
    BlockCache::give_back(hash);
  }

  std::string take_trouble() override {
    std::lock_guard lock(mutex_);
    return std::exchange(trouble_, {});
  }

 private:
  using Slot = CacheIndex::Slot;

  static int64_t byte_of(uint64_t hash) { return NodeLock::kFirstClaim + static_cast<int64_t>(hash >> 2); }
  static uint64_t active_of(const CachePlace& place) { return uint64_t{place.slot} << 8 | place.generation; }
  static CachePlace place_of(uint64_t active, int64_t offset) {
    return {static_cast<uint32_t>(active >> 8), static_cast<uint32_t>(active & 255), offset};
  }
  std::string index_path() const { return folder_ + "/index"; }
  std::string segment_path(uint32_t slot) const { return str(folder_, '/', kSegment, slot); }
  int64_t segment_bytes() const { return index_->head().segment_bytes; }
  int64_t least_limit() const { return 4 * segment_bytes() + index_->bytes(); }

  void note_use(Slot& slot) {
    const int64_t now = index_->head().clock, soon = index_->head().limit / 256;
    if (now - slot.used.load(std::memory_order_relaxed) > soon) slot.used.store(now, std::memory_order_relaxed);
  }

  std::shared_ptr<const Descriptor> segment(const CachePlace& place) {
    {
      std::lock_guard lock(mutex_);
      const Opened& known = opened_[place.slot % kOpenSegments];
      if (known.file && known.slot == place.slot && known.generation == place.generation) return known.file;
    }
    auto file = std::make_shared<const Descriptor>(
        ::open(segment_path(place.slot).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file->number < 0) return nullptr;
    Opened opened{place.slot, place.generation, file};  // the one before is closed without the lock
    std::lock_guard lock(mutex_);
    std::swap(opened_[place.slot % kOpenSegments], opened);
    return file;
  }

  // A place in the segment that is being filled, which nobody else has.
  std::optional<CachePlace> take_place(int64_t bytes) {
    const int64_t taken = (bytes + CacheIndex::kAlignment - 1) / CacheIndex::kAlignment * CacheIndex::kAlignment;
    if (taken > segment_bytes() - kSegmentHead) return {};
    while (true) {
      const uint64_t active = index_->head().active;
      if (index_->is_live(place_of(active, 0))) {
        Slot& slot = index_->slot(place_of(active, 0).slot);
        const int64_t offset = slot.end.fetch_add(taken);
        if (kSegmentHead <= offset && offset <= segment_bytes() - taken) {
          slot.used = index_->head().clock.load();
          return place_of(active, offset);
        }
      }
      if (!begin_segment(active)) return {};
    }
  }

  // Makes a segment the one that is being filled, in place of the given one. Returns false where there is no room.
  bool begin_segment(uint64_t full) {
    const NodeLock lock(changing_, *locks_);
    CacheIndex::Head& head = index_->head();
    if (head.active != full) return true;  // another thread or process has done it
    if (!is_current()) {
      head.retired = 1;
      return false;
    }
    head.active = 0;
    return make_room(segment_bytes(), false) && create_segment();
  }

  // Needs the lock of the node. A segment counts from before its file is made until after that is removed.
  bool make_room(int64_t bytes, bool at_once) {
    CacheIndex::Head& head = index_->head();
    while (true) {
      int64_t live = 0;
      std::optional<uint32_t> oldest;
      for (uint32_t i = 0; i < index_->slots(); i++) {
        if (index_->slot(i).state != Slot::live) continue;
        live++;
        if (!oldest || index_->slot(i).used < index_->slot(*oldest).used) oldest = i;
      }
      if (index_->bytes() + live * segment_bytes() + bytes <= head.limit) return true;
      if (!oldest) return false;
      if (!at_once) {
        if (index_->slot(*oldest).begun > head.full_at) head.full_at = head.clock.load();
        const int64_t room_at = std::max(index_->slot(*oldest).used, head.full_at) + head.limit / 2;
        if (head.clock < room_at) {
          head.room_at = room_at;
          return false;
        }
      }
      remove_segment(*oldest);
    }
  }

  bool create_segment() {
    for (uint32_t i = 0; i < index_->slots(); i++) {
      Slot& slot = index_->slot(i);
      if (slot.state != Slot::free) continue;
      slot.generation = slot.generation % CacheIndex::kGenerations + 1;
      slot.end = kSegmentHead;
      slot.used = slot.begun = index_->head().clock += 1;
      slot.state = Slot::live;
      if (const int error = create_file(segment_path(i)); error == EEXIST) {
        slot.state = Slot::foreign;
        continue;
      } else if (error) {
        slot.state = Slot::free;
        fail(error);
        return false;
      }
      index_->head().active = active_of({i, slot.generation, 0});
      return true;
    }
    return false;
  }

  // Returns the number of an error; EEXIST where there is a file that is not the cache's own.
  static int create_file(const std::string& path) {
    constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int opened = ::open(path.c_str(), flags | O_CREAT | O_EXCL, 0600);
    if (opened < 0 && errno == EEXIST && is_own(path)) opened = ::open(path.c_str(), flags | O_TRUNC);
    if (opened < 0) return errno;
    const Descriptor file(opened);
    const int error = file.write(0, kSegmentMagic.data(), std::ssize(kSegmentMagic));
    if (error) unlink(path.c_str());
    return error;
  }

  // Whether a file is one of the cache: an empty one of this name is one whose process was killed.
  static bool is_own(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info;
    if (file.number < 0 || fstat(file.number, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    std::string begin(kSegmentMagic.size(), '\0');
    const int64_t bytes = file.read(0, begin.data(), std::ssize(begin));
    return bytes == 0 || begin == kSegmentMagic;
  }

  // Its memory is free at once, also where a process still has it open.
  static void remove_file(const std::string& path) {
    if (!is_own(path)) return;
    if (::truncate(path.c_str(), 0) == 0) unlink(path.c_str());
  }

  void remove_segment(uint32_t number) {
    Slot& slot = index_->slot(number);
    const uint64_t active = index_->head().active;
    if (active != 0 && place_of(active, 0).slot == number) index_->head().active = 0;
    remove_file(segment_path(number));
    slot.state = Slot::free;
  }

  // Numbers that cannot be: a machine that stopped may have written some pages of the index and others not.
  void mend() {
    CacheIndex::Head& head = index_->head();
    const int64_t clock = head.clock = std::clamp<int64_t>(head.clock, 0, kLatest);
    if (head.full_at < 0 || head.full_at > clock) head.full_at = 0;
    if (head.room_at > clock + head.limit) head.room_at = 0;
    for (uint32_t i = 0; i < index_->slots(); i++) {
      Slot& slot = index_->slot(i);
      if (slot.state > Slot::foreign || slot.generation > CacheIndex::kGenerations) slot.state = Slot::foreign;
      if (slot.used < 0 || slot.used > clock) slot.used = clock;
      if (slot.begun < 0 || slot.begun > clock) slot.begun = clock;
    }
  }

  // Files of segments that the index does not know: those of an older one.
  void remove_strangers() {
    DIR* dir = opendir(folder_.c_str());
    if (!dir) throw std::system_error(errno, std::generic_category());
    const std::unique_ptr<DIR, int (*)(DIR*)> close(dir, closedir);
    while (const dirent* entry = readdir(dir)) {
      const std::string_view name = entry->d_name;
      if (!name.starts_with(kSegment)) continue;
      uint32_t number = 0;
      const auto [end, error] = std::from_chars(name.data() + kSegment.size(), name.data() + name.size(), number);
      if (error != std::errc() || end != name.data() + name.size()) continue;
      const bool is_known = index_ && number < index_->slots() && index_->slot(number).state == Slot::live;
      if (!is_known) remove_file(str(folder_, '/', name));
    }
  }

  void set_limit_locked(int64_t limit) {
    CacheIndex::Head& head = index_->head();
    if (limit > head.limit) head.full_at = head.room_at = 0;
    head.limit = limit;
    make_room(0, true);
  }

  // Reading goes on without keeping anything for a while.
  void fail(int error) {
    paused_until_ = (Clock::now() + kPause).time_since_epoch().count();
    std::lock_guard lock(mutex_);
    if (!std::exchange(was_told_, true))
      trouble_ = str("the cache in ", folder_, " cannot be written to: ", std::strerror(error),
                     ". Reading goes on, and keeps nothing new there.");
  }

  struct Opened {
    uint32_t slot = 0, generation = 0;
    std::shared_ptr<const Descriptor> file{};
  };

  const std::string folder_;
  const std::shared_ptr<const ByteLocks> locks_;
  std::unique_ptr<CacheIndex> index_;  // null where the disk had no room for it
  std::atomic<Clock::rep> paused_until_ = 0;
  ForkSafe<> changing_{ForkAware::Rank::reader};  // taken before mutex_
  ForkSafe<> mutex_{ForkAware::Rank::reader};
  std::array<Opened, kOpenSegments> opened_;
  std::string trouble_;
  bool was_told_ = false;
};

// The caches of this process by their folders, and the locks, which must not be opened twice: closing one would drop
// those of the other.
class DiskCaches {
 public:
  std::shared_ptr<DiskCache> get(const std::string& folder, int64_t limit) {
    std::lock_guard lock(mutex_);
    Known& known = known_[folder];
    if (known.cache && known.cache->is_current() && known.cache->can_have(limit)) {
      known.cache->set_limit(limit);
      return known.cache;
    }
    const std::string path = folder + "/lock";
    if (!known.locks || !known.locks->is_at(path)) {
      if (known.locks) outdated_.push_back(known.locks);
      known.locks = std::make_shared<const ByteLocks>(path);
    }
    return known.cache = std::make_shared<DiskCache>(folder, known.locks, limit);
  }
  static DiskCaches& instance() { return *instance_; }

 private:
  static DiskCaches* const instance_;

  struct Known {
    std::shared_ptr<DiskCache> cache;
    std::shared_ptr<const ByteLocks> locks;
  };
  ForkSafe<> mutex_{ForkAware::Rank::reader};
  std::map<std::string, Known> known_;
  std::vector<std::shared_ptr<const ByteLocks>> outdated_;
};

DiskCaches* const DiskCaches::instance_ = new DiskCaches;

// The folder of the cache in the user's one.
std::string own_folder(const std::string& folder) {
  fs::create_directories(folder);
  struct statfs where;
  if (statfs(folder.c_str(), &where) == 0 && std::ranges::find(kNetworks, where.f_type) != std::end(kNetworks))
    refuse("expected a folder on a disk of this machine, ", folder,
           " is on a network: another machine may write to it");
  const std::string own = fs::canonical(folder) / kOwnFolder;
  if (mkdir(own.c_str(), 0700) != 0 && errno != EEXIST) throw std::system_error(errno, std::generic_category());
  struct stat info;
  if (lstat(own.c_str(), &info) != 0) throw std::system_error(errno, std::generic_category());
  if (!S_ISDIR(info.st_mode)) refuse("expected a folder, ", own, " is none");
  if (info.st_uid != geteuid() || info.st_mode & 022)
    refuse("expected a folder that this user alone writes to, ", own, " is another one's or writable by others");
  return own;
}

}  // namespace

std::shared_ptr<BlockCache> disk_cache(const std::string& folder, int64_t limit) {
  try {
    return DiskCaches::instance().get(own_folder(folder), limit);
  } catch (const std::system_error& error) {
    refuse("the cache in ", folder, " cannot be opened: ", error.code().message());
  }
}

}  // namespace avida::storage
