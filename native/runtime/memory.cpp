#include "runtime/memory.h"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "runtime/fork.h"

// Blocks that are reused, or larger than asked for, would hide errors from AddressSanitizer: there, none is kept, and
// what was not asked for is out of bounds.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define AVIDA_HIDE(P, BYTES) ASAN_POISON_MEMORY_REGION(P, BYTES)
constexpr int64_t kKept = 0;
#else
#define AVIDA_HIDE(P, BYTES)
constexpr int64_t kKept = int64_t(1) << 30;
#endif

namespace avida {
namespace {

constexpr int kClasses = 4 * 64;

// Held for a few instructions only: waiting in the kernel would cost more than the work.
class SpinLock {
 public:
  void lock() {
    for (int spins = 0; busy_.test_and_set(std::memory_order_acquire);)
      if (++spins % 64 == 0) std::this_thread::yield();
  }
  void unlock() { busy_.clear(std::memory_order_release); }

 private:
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

class Pool : ForkAware {
 public:
  // Size classes: four steps per power of two, at least 128 bytes; a block is at most 25 % larger than asked for.
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

  void* take(int size_class) {
    size_t bytes = bytes_of(size_class);
    {
      std::lock_guard lock(mutex_);
      auto& list = free_[size_class];
      in_use_ += bytes;
      if (!list.empty()) {
        void* p = list.back();
        list.pop_back();
        kept_ -= bytes;
        return p;
      }
    }
    size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;  // as aligned_alloc wants it
    void* p = std::aligned_alloc(kAlignment, rounded);
    if (!p) {
      trim(0);
      p = std::aligned_alloc(kAlignment, rounded);
    }
    if (!p) {
      std::lock_guard lock(mutex_);
      in_use_ -= bytes;
      return nullptr;
    }
    return p;
  }

  void give(void* p, int size_class) noexcept {
    size_t bytes = bytes_of(size_class);
    {
      std::lock_guard lock(mutex_);
      in_use_ -= bytes;
      if (kept_ + static_cast<int64_t>(bytes) <= limit_) {
        try {
          free_[size_class].push_back(p);
          kept_ += bytes;
          return;
        } catch (const std::bad_alloc&) {
        }
      }
    }
    std::free(p);
  }

  void trim(int64_t limit) {
    std::lock_guard lock(mutex_);
    for (int c = kClasses - 1; c >= 0 && kept_ > limit; c--)
      while (!free_[c].empty() && kept_ > limit) {
        std::free(free_[c].back());
        free_[c].pop_back();
        kept_ -= bytes_of(c);
      }
  }

  void set_limit(int64_t bytes) {
    {
      std::lock_guard lock(mutex_);
      limit_ = bytes;
    }
    trim(bytes);
  }
  MemoryUse use() {
    std::lock_guard lock(mutex_);
    return {in_use_, kept_};
  }

 private:
  void before_fork() override { mutex_.lock(); }
  void after_fork(bool) override { mutex_.unlock(); }

  SpinLock mutex_;
  std::vector<void*> free_[kClasses];
  int64_t in_use_ = 0, kept_ = 0, limit_ = kKept;
  ForkRegistration fork_{this, Rank::memory};
};

Pool& pool() {
  static Pool* pool = new Pool;  // never destroyed: blocks may outlive every other static
  return *pool;
}

}  // namespace

Block allocate(int64_t bytes) {
  if (bytes < 0 || bytes > int64_t(1) << 60) fail(ErrorKind::memory, "cannot allocate ", bytes, " bytes");
  int size_class = Pool::class_of(static_cast<size_t>(bytes));
  void* p = pool().take(size_class);
  if (!p) fail(ErrorKind::memory, "out of memory: cannot allocate ", bytes, " bytes");
  AVIDA_HIDE(static_cast<char*>(p) + bytes, Pool::bytes_of(size_class) - bytes);
  return Block(p, [size_class](void* q) { pool().give(q, size_class); }, PoolAllocator<char>());
}

void* take_bytes(size_t bytes) {
  void* p = pool().take(Pool::class_of(bytes));
  if (!p) throw std::bad_alloc();
  return p;
}

void give_bytes(void* p, size_t bytes) noexcept { pool().give(p, Pool::class_of(bytes)); }

MemoryUse memory_use() { return pool().use(); }
void set_memory_kept(int64_t bytes) { pool().set_limit(bytes); }

}  // namespace avida
