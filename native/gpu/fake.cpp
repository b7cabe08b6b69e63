// A GPU emulated by the CPU (AVIDA_FAKE_GPU): host memory that counts as device memory, kernels run as host loops.
#include <cstdlib>
#include <cstring>
#include <utility>

#include "gpu/make.h"

namespace avida {
namespace {

class FakeGpu : public Gpu {
 public:
  explicit FakeGpu(int device) : Gpu(device) {}

  std::string name() const override { return "emulated GPU"; }
  std::string architecture() const override { return "none"; }

  void synchronize(StreamHandle) override {}
  void wait(StreamHandle, StreamHandle) override {}
  void keep_until_done(std::shared_ptr<void>, StreamHandle) override {}

  void copy_in(void* to, const void* from, size_t bytes, StreamHandle) override { std::memcpy(to, from, bytes); }
  void copy_in_pinned(void* to, const void* from, size_t bytes, StreamHandle) override { std::memcpy(to, from, bytes); }
  // Work is done before it is queued.
  std::unique_ptr<Timer> timer(StreamHandle) override {
    struct FakeTimer : Timer {
      bool end() override { return (stopped = profile::now()); }
      bool done() override { return true; }
      std::pair<int64_t, int64_t> begin_and_end() override { return {started, stopped}; }
      int64_t started = profile::now(), stopped = 0;
    };
    return std::make_unique<FakeTimer>();
  }
  std::unique_ptr<Parcel> parcel() override {
    struct FakeParcel : Parcel {
      FakeParcel() : Parcel(std::malloc(kBytes)) {}
      ~FakeParcel() override { std::free(memory); }
      void send(void* to, size_t first, size_t bytes, StreamHandle) override {
        std::memcpy(static_cast<char*>(to) + first, memory + first, bytes);
      }
    };
    return std::make_unique<FakeParcel>();
  }
  void copy_out(void* to, const void* from, size_t bytes, StreamHandle) override { std::memcpy(to, from, bytes); }
  void clear(void* memory, size_t bytes, StreamHandle) override { std::memset(memory, 0, bytes); }
  void copy(void* to, const void* from, size_t bytes, StreamHandle) override { std::memmove(to, from, bytes); }

  void launch(const Kernel& kernel, const void* items, int samples, int64_t, StreamHandle) override {
    for (int i = 0; i < samples; i++) kernel.run(static_cast<const char*>(items) + kernel.bytes * i);
  }
  int64_t bytes_left() const override { return kUnlimited; }

 protected:
  void* take(size_t bytes) override { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); }
  void give(void* memory) noexcept override { std::free(memory); }
  StreamHandle new_stream() override { return new char; }
  void* take_pinned(size_t bytes) override { return take(bytes); }
  void give_pinned(void* memory) noexcept override { give(memory); }
  // Says no once, so that tests see whether anybody asks before memory is reused.
  std::function<bool()> mark_work() override {
    return [asked = false]() mutable { return std::exchange(asked, true); };
  }
};

}  // namespace

std::unique_ptr<Gpu> make_fake_gpu(int device) { return std::make_unique<FakeGpu>(device); }

}  // namespace avida
