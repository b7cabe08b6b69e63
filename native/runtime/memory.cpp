#include "runtime/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "core/made_once.h"
#include "runtime/fork.h"

// Blocks that are reused, or larger than requested, would hide errors from AddressSanitizer. With it, no block is kept,
// and the excess of a block is poisoned.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define AVIDA_HIDE(P, BYTES) ASAN_POISON_MEMORY_REGION(P, BYTES)
constexpr bool kSanitized = true;
#else
#define AVIDA_HIDE(P, BYTES)
constexpr bool kSanitized = false;
#endif

namespace avida {
namespace {

constexpr int kClasses = 4 * 64;
// Blocks from this class on (128 KiB) have their own mapping, so that releasing them returns memory to the system.
constexpr int kFirstLarge = 4 * 17 - 1;
// Blocks of at least this size have huge pages, if the system grants them: one page fault instead of 512, and what
// moves large batches takes up to a tenth less time. Of smaller ones, the end of the last page would be a large part.
constexpr size_t kWorthHugePages = 4 << 20;
// The number of classes by which a large block may exceed a request, so that batches of varying size share blocks.
constexpr int kStretch = 2;
// A large block is released after the pool has handed out this multiple of its size without using the block.
constexpr int64_t kTurnover = 8;
constexpr int64_t kLeastTurnover = 64 << 20;

int64_t default_budget() { return std::min(memory_of_machine() / 4, int64_t(4) << 30); }

void* obtain(int size_class, size_t bytes) {
  if (size_class < kFirstLarge || kSanitized) {
    size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;  // as aligned_alloc requires
    return std::aligned_alloc(kAlignment, rounded);
  }
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  if (bytes >= kWorthHugePages) madvise(p, bytes, MADV_HUGEPAGE);
  return p;
}

void release(void* p, int size_class, size_t bytes) {
  if (size_class < kFirstLarge || kSanitized)
    std::free(p);
  else
    munmap(p, bytes);
}

// Held for a few instructions only; a futex would cost more than the protected work.
class SpinLock {
 public:
  void lock() {
    for (int spins = 0; busy_.test_and_set(std::memory_order_acquire);)
      if (++spins % 64 == 0) std::this_thread::yield();
  }
  bool try_lock() { return !busy_.test_and_set(std::memory_order_acquire); }
  void unlock() { busy_.clear(std::memory_order_release); }

 private:
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

class Pool {
 public:
  // Size classes: four steps per power of two, at least 128 bytes; a block is at most 25 % larger than requested.
  static int class_of(size_t bytes) {
    size_t b = bytes < 128 ? 128 : bytes;
    int power = std::bit_width(b - 1) - 1;  // 2^power < b <= 2^(power+1)
    size_t step = size_t(1) << (power - 2);
    return power * 4 + static_cast<int>((b - (size_t(1) << power) + step - 1) / step) - 1;
  }
  static size_t bytes_of(int size_class) {
    int power = size_class / 4, quarter = size_class % 4 + 1;
    return (size_t(1) << power) + quarter * (size_t(1) << (power - 2));
  }

  struct Taken {
    void* p;
    int size_class;  // under which it is returned
  };

  // `stretch`: the number of classes by which a large block may exceed the request.
  Taken take(int size_class, int stretch) {
    {
      std::lock_guard lock(mutex_);
      int last = size_class < kFirstLarge ? size_class : std::min(size_class + stretch, kClasses - 1);
      for (int c = size_class; c <= last; c++) {
        auto& list = free_[c];
        if (list.empty()) continue;
        void* p = list.back().p;
        list.pop_back();
        kept_ -= bytes_of(c);
        hand_out(bytes_of(c));
        return {p, c};
      }
    }
    size_t bytes = bytes_of(size_class);
    void* p = obtain(size_class, bytes);
    if (!p) {
      trim(0);
      p = obtain(size_class, bytes);
    }
    std::lock_guard lock(mutex_);
    if (p) hand_out(bytes);
    return {p, size_class};
  }

  void give(void* p, int size_class) noexcept {
    int64_t bytes = bytes_of(size_class);
    bool look;
    {
      std::lock_guard lock(mutex_);
      in_use_ -= bytes;
      if (!kSanitized && kept_ + bytes <= budget_) {
        try {
          free_[size_class].push_back({p, traffic_});
          kept_ += bytes;
          p = nullptr;
        } catch (const std::bad_alloc&) {
        }
      }
      look = size_class >= kFirstLarge && traffic_ >= next_look_;
    }
    if (p) release(p, size_class, bytes);
    if (look) evict_unused();
  }

  void trim(int64_t budget) {
    for (int c = kClasses - 1; c >= 0; c--)
      while (true) {
        void* p;
        {
          std::lock_guard lock(mutex_);
          if (free_[c].empty() || kept_ <= budget) break;
          p = free_[c].back().p;
          free_[c].pop_back();
          kept_ -= bytes_of(c);
        }
        release(p, c, bytes_of(c));
      }
  }

  void set_budget(int64_t bytes) {
    if (bytes < 0) bytes = default_budget();
    {
      std::lock_guard lock(mutex_);
      budget_ = bytes;
    }
    trim(bytes);
  }
  MemoryUse use() {
    std::lock_guard lock(mutex_);
    return {in_use_, kept_, budget_};
  }

 private:
  struct Free {
    void* p;
    int64_t since;  // traffic_ when it was freed
  };
  void hand_out(int64_t bytes) {
    in_use_ += bytes;
    traffic_ += bytes;
  }

  // Releases large blocks that were not used during a whole turnover. Each list begins with the block that has been
  // free for longest.
  [[gnu::noinline]] void evict_unused() noexcept {
    Taken evicted[16];
    int count = 0;
    {
      std::lock_guard lock(mutex_);
      int64_t turnover = std::max(kLeastTurnover, kTurnover * (in_use_ + kept_));
      for (int c = kFirstLarge; c < kClasses; c++)
        while (!free_[c].empty() && free_[c].front().since < traffic_ - turnover && count < std::ssize(evicted)) {
          evicted[count++] = {free_[c].front().p, c};
          free_[c].erase(free_[c].begin());
          kept_ -= bytes_of(c);
        }
      if (count < std::ssize(evicted)) next_look_ = traffic_ + turnover / 4;  // else there may be more
    }
    for (int i = 0; i < count; i++) release(evicted[i].p, evicted[i].size_class, bytes_of(evicted[i].size_class));
  }

  ForkSafe<SpinLock> mutex_{ForkAware::Rank::memory};
  std::vector<Free> free_[kClasses];
  int64_t in_use_ = 0, kept_ = 0, budget_ = default_budget();
  int64_t traffic_ = 0, next_look_ = kLeastTurnover;  // bytes handed out so far
};

Pool& pool() {
  static constinit MadeOnce<Pool> pool;  // never destroyed: blocks may outlive every other static
  return pool.get();
}

[[maybe_unused]] const bool made_at_load = (pool(), true);

}  // namespace

Block allocate(int64_t bytes) {
  if (bytes < 0 || bytes > int64_t(1) << 60) fail(ErrorKind::memory, "cannot allocate ", bytes, " bytes");
  auto [p, size_class] = pool().take(Pool::class_of(static_cast<size_t>(bytes)), kStretch);
  if (!p) fail(ErrorKind::memory, "out of memory: cannot allocate ", bytes, " bytes");
  AVIDA_HIDE(static_cast<char*>(p) + bytes, Pool::bytes_of(size_class) - bytes);
  return Block(p, BlockDeleter([size_class = size_class](void* q) { pool().give(q, size_class); }),
               PoolAllocator<char>());
}

void* take_bytes(size_t bytes) {
  void* p = pool().take(Pool::class_of(bytes), 0).p;
  if (!p) throw std::bad_alloc();
  return p;
}

void give_bytes(void* p, size_t bytes) noexcept { pool().give(p, Pool::class_of(bytes)); }

int64_t memory_of_machine() {
  int64_t memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  // A container may have less: the files of both cgroup versions contain a number, or a word for no limit.
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (int64_t limit; std::ifstream(path) >> limit) memory = std::min(memory, limit);
  return memory;
}

MemoryUse memory_use() { return pool().use(); }
void set_memory_budget(int64_t bytes) { pool().set_budget(bytes); }

[[noreturn, gnu::cold]] static void refuse_batch_of(int samples, int64_t bytes) {
  value_error("a batch of ", samples, " samples, one of them with ", bytes, " bytes, is too large for any memory: use ",
              "smaller samples or a smaller batch");
}

Data allocate_data(const Meta& meta, const ShapeList& shapes, const std::function<Block(int64_t bytes)>& allocate) {
  Data data;
  data.dtype = meta.dtype;
  data.layout = meta.layout.size() == shapes.ndim() ? meta.layout : Layout();
  data.device = meta.device;
  data.shapes = shapes;
  int n = shapes.samples();
  auto bytes_of = [&](int i) { return checked_volume(shapes[i]) * size_of(meta.dtype); };
  int64_t total = 0;
  if (shapes.uniform()) {
    int64_t step = n ? bytes_of(0) : 0;
    if (__builtin_mul_overflow(step, n, &total)) refuse_batch_of(n, step);
    Block block = allocate(total);
    void* first = block.get();
    data.place(std::move(block), first, step);
    return data;
  }
  constexpr auto step_between = static_cast<int64_t>(kAlignment);
  std::vector<int64_t> offsets(n);
  for (int i = 0; i < n; i++) {
    offsets[i] = total;
    int64_t bytes = (bytes_of(i) + step_between - 1) / step_between * step_between;
    if (__builtin_add_overflow(total, bytes, &total)) refuse_batch_of(n, bytes);
  }
  Block block = allocate(total);
  std::vector<void*> samples(n);
  for (int i = 0; i < n; i++) samples[i] = static_cast<char*>(block.get()) + offsets[i];
  data.place(std::move(block), std::move(samples));
  return data;
}

Data copy_of(const Data& data) {
  Meta meta;
  meta.dtype = data.dtype;
  meta.layout = data.layout;
  Data copy = allocate_data(meta, data.shapes);
  copy.origins = data.origins;
  for (int i = 0; i < data.size(); i++)
    if (const int64_t bytes = data.bytes(i)) std::memcpy(copy.at(i), data.at(i), static_cast<size_t>(bytes));
  return copy;
}

}  // namespace avida
