// GPUs: memory, streams, copies and kernels. CUDA's driver is opened at run time; without one there are none.
//
// Work is put into streams and done later, in order. Memory belongs to the stream that it was allocated for: what is
// given back may be used again by later work of that stream at once.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/data.h"
#include "cuda/kernel.h"

namespace avida {

using StreamHandle = void*;  // CUstream

// A stream, given back by its last user. Own streams are never destroyed but used again: memory may still wait for
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

  // How many there are. AVIDA_FAKE_GPU=n stands in for n of them on the CPU, for tests.
  static int count();
  // Why there are none, in one line.
  static const std::string& missing();
  // Raises an error unless there is such a one.
  static Gpu& at(int device);

  virtual std::string name() const = 0;
  virtual std::string architecture() const = 0;  // "sm_90"

  // A block for the work of a stream. Raises a memory error that names the size, after which work may go on.
  Block allocate(int64_t bytes, StreamHandle stream);
  // What the pool has: handed out, and kept for reuse.
  int64_t bytes_in_use() const;
  int64_t bytes_kept() const;
  // How many bytes may be kept.
  static constexpr int64_t kUnlimited = INT64_MAX;
  int64_t memory_budget() const;
  void set_memory_budget(int64_t bytes);

  // A stream for one user.
  std::shared_ptr<GpuStream> create_stream();
  // The stream of contexts that have none of their own.
  const std::shared_ptr<GpuStream>& default_stream();
  virtual void synchronize(StreamHandle stream) = 0;
  // Lets `stream` go on when all that `other` has to do now is done.
  virtual void wait(StreamHandle stream, StreamHandle other) = 0;

  // Memory of the CPU to be filled and copied to the GPU piece by piece.
  class Parcel {
   public:
    static constexpr size_t kBytes = size_t(4) << 20;
    explicit Parcel(void* memory) : memory(static_cast<char*>(memory)) {}
    virtual ~Parcel() = default;
    Parcel(const Parcel&) = delete;
    // A piece of it, to the same place after `to`; the parcel need not stay until it is done.
    virtual void send(void* to, size_t first, size_t bytes, StreamHandle stream) = 0;
    char* const memory;
  };
  virtual std::unique_ptr<Parcel> parcel() = 0;

  // Lets go of something when all that `stream` has to do now is done.
  virtual void keep_until_done(std::shared_ptr<void> thing, StreamHandle stream) = 0;

  // To the GPU; `from` may be changed when it returns.
  virtual void copy_in(void* to, const void* from, size_t bytes, StreamHandle stream) = 0;
  // From the GPU; done when it returns.
  virtual void copy_out(void* to, const void* from, size_t bytes, StreamHandle stream) = 0;
  // To zeros.
  virtual void clear(void* memory, size_t bytes, StreamHandle stream) = 0;
  // Within the GPU.
  virtual void copy(void* to, const void* from, size_t bytes, StreamHandle stream) = 0;

  // Runs the items of `samples` samples, which lie in the GPU's memory.
  virtual void launch(const Kernel& kernel, const void* items, int samples, int64_t most_items,
                      StreamHandle stream) = 0;

  const int device;

 protected:
  explicit Gpu(int device);
  virtual void* take(size_t bytes) = 0;  // null: there is not enough
  // When all work that uses it is done.
  virtual void give(void* memory) noexcept = 0;
  virtual StreamHandle new_stream() = 0;

 private:
  class Pool;
  const std::unique_ptr<Pool> pool_;
  std::mutex streams_mutex_;
  std::vector<StreamHandle> free_streams_;
  std::once_flag default_made_;
  std::shared_ptr<GpuStream> default_stream_;
};

}  // namespace avida
