// Pools of GPU memory, whose blocks are reused by the stream that used them, and of pinned CPU memory.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace avida {

class GpuPool {
 public:
  GpuPool(std::function<void*(size_t, void* stream)> obtain, std::function<void(void*)> release)
      : obtain_(std::move(obtain)), release_(std::move(release)) {}

  struct Taken {
    void* memory;  // null if there is not enough memory
    size_t bytes;
  };
  Taken take(size_t bytes, void* stream);
  void give(Taken block, void* stream) noexcept;
  int64_t in_use() const;
  int64_t kept() const;
  // The maximum of kept bytes; blocks that exceed it are released.
  int64_t budget() const;
  void set_budget(int64_t bytes);

 private:
  static size_t rounded(size_t bytes);
  void keep_at_most(int64_t bytes);

  mutable std::mutex mutex_;
  std::map<std::pair<void*, size_t>, std::vector<void*>> free_;
  int64_t in_use_ = 0, kept_ = 0, budget_ = INT64_MAX;
  const std::function<void*(size_t, void*)> obtain_;
  const std::function<void(void*)> release_;
};

// Pinned CPU memory. When a block comes back that another library has had, a copy that this library has queued may
// still have to read it, in a stream that is not known here. So such blocks wait: the next hand-over marks the work
// that is queued by then, in all streams of all GPUs, and they are reused when it is done.
class PinnedPool {
 public:
  using Question = std::function<bool()>;

  // `mark` returns a question: is the work done that was queued when it was called? It returns nothing if the work
  // cannot be marked now.
  PinnedPool(std::function<void*(size_t)> obtain, std::function<void(void*)> release, std::function<Question()> mark)
      : pool_([obtain = std::move(obtain)](size_t bytes, void*) { return obtain(bytes); }, std::move(release)),
        mark_(std::move(mark)) {}

  GpuPool::Taken take(size_t bytes);
  void give(GpuPool::Taken block, bool was_handed_over) noexcept;
  // To be called before another library gets a block. Only then work is marked, by the thread that hands over: a thread
  // in the background would break into the capture of a CUDA graph.
  void hand_over();

  int64_t in_use() const { return pool_.in_use(); }  // with the blocks that wait
  int64_t kept() const { return pool_.kept(); }
  void set_budget(int64_t bytes) { pool_.set_budget(bytes); }

 private:
  struct Waiting {
    std::vector<GpuPool::Taken> blocks;
    Question is_done;
  };
  GpuPool pool_;
  const std::function<Question()> mark_;
  std::mutex mutex_;
  std::vector<GpuPool::Taken> returned_;  // since the last hand-over
  std::deque<Waiting> waiting_;           // in the order of the marks, and thus of the work
};

}  // namespace avida
