// GPUs: memory, streams, copies and kernels. The CUDA driver is loaded at run time; without it there are no GPUs.
//
// Work is queued in streams and executed asynchronously, in order. Memory belongs to the stream for which it was
// allocated: after it is freed, later work of that stream may reuse it at once.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/data.h"
#include "gpu/kernel.h"
#include "runtime/profile.h"

namespace avida {

using StreamHandle = void*;  // CUstream

// A stream, returned by its last user. Streams created here are reused and never destroyed: memory may still depend on
// them.
struct GpuStream : std::enable_shared_from_this<GpuStream> {
  GpuStream(int device, StreamHandle handle, std::function<void()> end = {})
      : device(device), handle(handle), end(std::move(end)) {}
  ~GpuStream() {
    if (end) end();
  }
  GpuStream(const GpuStream&) = delete;

  const int device;
  const StreamHandle handle;
  const std::function<void()> end;
};

class Gpu {
 public:
  virtual ~Gpu();

  // The number of GPUs. AVIDA_FAKE_GPU=n emulates n GPUs on the CPU, for tests.
  static int count();
  // The reason why there are none, in one line.
  static const std::string& missing();
  // Raises an error if there is no such GPU.
  static Gpu& at(int device);

  virtual std::string name() const = 0;
  virtual std::string architecture() const = 0;  // "sm_90"
  // CUcontext, for other libraries of the driver; null if the GPU is emulated.
  virtual void* context() const { return nullptr; }

  // A block for the work of a stream. Raises a memory error that names the size; the GPU stays usable.
  Block allocate(int64_t bytes, StreamHandle stream);
  // Bytes that are handed out, and bytes kept for reuse.
  int64_t bytes_in_use() const;
  int64_t bytes_kept() const;
  // Bytes that nobody has, in this process or another one.
  virtual int64_t bytes_left() const = 0;
  // The maximum of kept bytes.
  static constexpr int64_t kUnlimited = INT64_MAX;
  int64_t memory_budget() const;
  void set_memory_budget(int64_t bytes);

  // A block of pinned CPU memory, which GPUs read while the CPU goes on. In a forked child, which has no GPU, it is
  // ordinary memory.
  Block allocate_pinned(int64_t bytes);
  // The same within the memory budget; beyond it, and where there is none, ordinary memory.
  Block allocate_for_copies(int64_t bytes);
  // The GPU to which results on the CPU are copied, by whatever library, so that they had better lie in pinned memory:
  // known from the first one on that is handed to another library while this process uses CUDA. Null: none so far.
  static Gpu* that_copies();
  // Called when a result on the CPU is handed to another library, until it is known whether results are copied; or by
  // those who know that they are.
  static void note_hand_over(bool is_copied = false);
  static bool knows_copies();
  // Whether all samples are in such blocks.
  static bool is_pinned(const Data& data);
  // To be called before another library gets the memory; see PinnedPool. No effect on memory that is not pinned.
  static void hand_over(const Block& block);
  // Of all GPUs: bytes that are handed out, bytes kept for reuse, and the maximum of kept bytes for each GPU.
  static std::pair<int64_t, int64_t> pinned_bytes();
  static void set_pinned_budget(int64_t bytes);

  // A stream for one user.
  std::shared_ptr<GpuStream> create_stream();
  // The stream of contexts without a stream of their own.
  const std::shared_ptr<GpuStream>& default_stream();
  virtual void synchronize(StreamHandle stream) = 0;
  // Makes `stream` wait for the work that is queued in `other` now.
  virtual void wait(StreamHandle stream, StreamHandle other) = 0;

  // Measures for profiles what a stream does from the timer's creation to its end().
  class Timer : public profile::Later {
   public:
    virtual bool end() = 0;  // false: the GPU has failed
  };
  virtual std::unique_ptr<Timer> timer(StreamHandle stream) = 0;

  // Pinned CPU memory that is filled and copied to the GPU piece by piece.
  class Parcel {
   public:
    static constexpr size_t kBytes = size_t(4) << 20;
    explicit Parcel(void* memory) : memory(static_cast<char*>(memory)) {}
    virtual ~Parcel() = default;
    Parcel(const Parcel&) = delete;
    // Copies a piece to the same offset from `to`. The parcel may be destroyed before the copy has finished.
    virtual void send(void* to, size_t first, size_t bytes, StreamHandle stream) = 0;
    char* const memory;
  };
  virtual std::unique_ptr<Parcel> parcel() = 0;

  // Keeps an object alive until the work that is queued in `stream` now is done.
  virtual void keep_until_done(std::shared_ptr<void> thing, StreamHandle stream) = 0;

  // Copies to the GPU; `from` may be changed after the call returns.
  virtual void copy_in(void* to, const void* from, size_t bytes, StreamHandle stream) = 0;
  // The same without staging, from pinned memory that must not change before the copy is done.
  virtual void copy_in_pinned(void* to, const void* from, size_t bytes, StreamHandle stream) = 0;
  // Copies from the GPU; waits until the copy has finished.
  virtual void copy_out(void* to, const void* from, size_t bytes, StreamHandle stream) = 0;
  // Sets memory to zero.
  virtual void clear(void* memory, size_t bytes, StreamHandle stream) = 0;
  // Copies within the GPU.
  virtual void copy(void* to, const void* from, size_t bytes, StreamHandle stream) = 0;

  // Launches a kernel for the items of `samples` samples, whose parameters are in GPU memory.
  virtual void launch(const Kernel& kernel, const void* items, int samples, int64_t most_items,
                      StreamHandle stream) = 0;

  const int device;

 protected:
  explicit Gpu(int device);
  virtual void* take(size_t bytes) = 0;  // null if there is not enough memory
  // Frees memory, after all work that uses it is done.
  virtual void give(void* memory) noexcept = 0;
  virtual StreamHandle new_stream() = 0;
  virtual void* take_pinned(size_t bytes) = 0;  // null if there is not enough memory
  virtual void give_pinned(void* memory) noexcept = 0;
  // Tells, whenever it is asked, if the work is done that is queued now, on all GPUs and by all libraries. Empty if
  // a CUDA graph is being captured.
  virtual std::function<bool()> mark_work() = 0;

 private:
  class Pool;
  class Pinned;
  struct PinnedBlock;
  const std::unique_ptr<Pool> pool_;
  const std::unique_ptr<Pinned> pinned_;
  std::mutex streams_mutex_;
  std::vector<StreamHandle> free_streams_;
  std::once_flag default_made_;
  std::shared_ptr<GpuStream> default_stream_;
};

}  // namespace avida
