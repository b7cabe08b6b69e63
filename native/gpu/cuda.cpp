#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>

#include "cuda/compiler.h"
#include "cuda/driver.h"
#include "cuda/make.h"

namespace avida {
namespace {

using cuda::check;
using cuda::driver;

constexpr int kThreads = 256;  // of a block
// Pinned memory through which copies go: so many buffers of so many bytes, at most.
constexpr size_t kStaging = Gpu::Parcel::kBytes, kSmallStaging = size_t(64) << 10;
constexpr int kStagings = 48, kSmallStagings = 64;

cuda::Pointer address(const void* memory) { return reinterpret_cast<cuda::Pointer>(memory); }

// The GPU's context for the calls of a block; the thread may be a user's, with another one.
class Entered {
 public:
  explicit Entered(cuda::Context context) {
    cuda::check_not_forked();
    check(driver().context_push(context), "entering the GPU's context");
  }
  ~Entered() {
    cuda::Context own;
    driver().context_pop(&own);
  }
  Entered(const Entered&) = delete;
};

class CudaGpu : public Gpu {
 public:
  explicit CudaGpu(int device) : Gpu(device) {
    cuda::DeviceNumber number;
    check(driver().device_get(&number, device), "finding the GPU");
    check(driver().context_retain(&context_, number), "starting the GPU");
    char name[256] = {};
    check(driver().device_name(name, sizeof(name), number), "asking for the GPU's name");
    name_ = name;
    int major, minor;
    check(driver().device_attribute(&major, cuda::kComputeMajor, number), "asking for the GPU's architecture");
    check(driver().device_attribute(&minor, cuda::kComputeMinor, number), "asking for the GPU's architecture");
    check(driver().device_attribute(&processors_, cuda::kProcessors, number), "asking for the GPU's size");
    architecture_ = str("sm_", major, minor);
  }

  std::string name() const override { return name_; }
  std::string architecture() const override { return architecture_; }

  void synchronize(StreamHandle stream) override {
    const Entered here(context_);
    check(driver().stream_synchronize(stream), "waiting for the GPU");
  }

  void wait(StreamHandle stream, StreamHandle other) override {
    if (stream == other) return;
    const Entered here(context_);
    cuda::Event event;
    check(driver().event_create(&event, cuda::kNoTiming), "creating an event");
    check(driver().event_record(event, other), "recording an event");
    check(driver().stream_wait(stream, event, 0), "waiting for an event");
    driver().event_destroy(event);  // happens when it is no longer needed
  }

  void keep_until_done(std::shared_ptr<void> thing, StreamHandle stream) override {
    const Entered here(context_);
    Kept kept{std::move(thing), nullptr};
    check(driver().event_create(&kept.until, cuda::kNoTiming), "creating an event");
    check(driver().event_record(kept.until, stream), "recording an event");
    {
      std::lock_guard lock(mutex_);
      kept_.push_back(std::move(kept));
    }
    let_go();
  }

  void copy_in(void* to, const void* from, size_t bytes, StreamHandle stream) override {
    const Entered here(context_);
    for (size_t done = 0; done < bytes;) {
      size_t n = std::min(kStaging, bytes - done);
      StagingLease staging(n > kSmallStaging ? stagings_ : small_stagings_);
      std::memcpy(staging->memory, static_cast<const char*>(from) + done, n);
      check(driver().copy_in(address(to) + done, staging->memory, n, stream), "copying to the GPU");
      check(driver().event_record(staging->event, stream), "recording an event");
      done += n;
    }
  }

  std::unique_ptr<Parcel> parcel() override {
    const Entered here(context_);
    return std::make_unique<CudaParcel>(*this, std::make_unique<StagingLease>(parcels_));
  }

  void copy_out(void* to, const void* from, size_t bytes, StreamHandle stream) override {
    const Entered here(context_);
    for (size_t done = 0; done < bytes;) {
      size_t n = std::min(kStaging, bytes - done);
      StagingLease staging(n > kSmallStaging ? stagings_ : small_stagings_);
      check(driver().copy_out(staging->memory, address(from) + done, n, stream), "copying from the GPU");
      check(driver().event_record(staging->event, stream), "recording an event");
      check(driver().event_synchronize(staging->event), "copying from the GPU");
      std::memcpy(static_cast<char*>(to) + done, staging->memory, n);
      done += n;
    }
  }

  void clear(void* memory, size_t bytes, StreamHandle stream) override {
    const Entered here(context_);
    check(driver().memory_clear(address(memory), 0, bytes, stream), "clearing memory on the GPU");
  }
  void copy(void* to, const void* from, size_t bytes, StreamHandle stream) override {
    const Entered here(context_);
    check(driver().copy(address(to), address(from), bytes, stream), "copying on the GPU");
  }

  void launch(const Kernel& kernel, const void* items, int samples, int64_t most_items, StreamHandle stream) override {
    if (samples == 0 || most_items == 0) return;
    const Entered here(context_);
    cuda::Function function = function_of(kernel);
    // Enough blocks to fill the GPU some times over; more would only start and end.
    const int threads = kernel.block_threads ? kernel.block_threads : kThreads;
    int64_t blocks = kernel.block_threads ? most_items : (most_items + kThreads - 1) / kThreads;
    int64_t enough = std::max<int64_t>(1, int64_t(processors_) * 32 / samples);
    auto grid = static_cast<unsigned>(std::min(blocks, enough));
    void* parameters[] = {&items};
    constexpr int kMostRows = 65535;
    for (int first = 0; first < samples; first += kMostRows) {
      check(driver().launch(function, grid, static_cast<unsigned>(std::min(samples - first, kMostRows)), 1,
                            static_cast<unsigned>(threads), 1, 1, 0, stream, parameters, nullptr),
            "starting a kernel");
      items = static_cast<const char*>(items) + kernel.bytes * kMostRows;
    }
  }

 protected:
  void* take(size_t bytes) override {
    const Entered here(context_);
    let_go();
    cuda::Pointer pointer;
    cuda::Result result = driver().memory_take(&pointer, bytes);
    if (result == cuda::kOutOfMemory) return nullptr;
    check(result, "allocating memory on the GPU");
    return reinterpret_cast<void*>(pointer);
  }
  void give(void* memory) noexcept override {
    cuda::Context own;
    if (driver().context_push(context_)) return;  // the process ends: the driver has gone
    driver().memory_give(address(memory));
    driver().context_pop(&own);
  }

 private:
  struct Kept {
    std::shared_ptr<void> thing;
    cuda::Event until;
  };

  // Of what is kept until work is done, that whose work is.
  void let_go() {
    std::vector<Kept> done;  // dropped after the lock
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < kept_.size();) {
      if (driver().event_query(kept_[i].until) == cuda::kNotReady) {
        i++;
        continue;
      }
      driver().event_destroy(kept_[i].until);
      done.push_back(std::move(kept_[i]));
      kept_[i] = std::move(kept_.back());
      kept_.pop_back();
    }
  }

  struct Staging {
    void* memory;
    cuda::Event event;  // when what was copied last is done
  };
  // Buffers of one size; new ones are made while the others are in use.
  struct Stagings {
    const size_t bytes;
    const int most;
    std::mutex mutex;
    std::condition_variable returned;
    std::deque<Staging> free;  // the one that was used longest ago comes first
    int made = 0;

    Staging take() {
      std::unique_lock lock(mutex);
      const bool busy = free.empty() || driver().event_query(free.front().event) == cuda::kNotReady;
      if (busy && made < most) {
        Staging staging;
        check(driver().event_create(&staging.event, cuda::kNoTiming), "creating an event");
        const cuda::Result result = driver().pinned_take(&staging.memory, bytes, 1);
        if (result == 0) {
          made++;
          return staging;
        }
        driver().event_destroy(staging.event);
        if (made == 0) check(result, "taking pinned memory");  // else those that there are have to do
      }
      returned.wait(lock, [this] { return !free.empty(); });
      Staging staging = free.front();
      free.pop_front();
      return staging;
    }
    void give(const Staging& staging) {
      {
        std::lock_guard lock(mutex);
        free.push_back(staging);
      }
      returned.notify_one();
    }
  };

  // One of the buffers, when what was copied through it last is done. It goes back whatever happens.
  class StagingLease {
   public:
    explicit StagingLease(Stagings& stagings) : stagings_(stagings), staging_(stagings.take()) {
      if (cuda::Result result = driver().event_synchronize(staging_.event)) {
        stagings_.give(staging_);
        check(result, "waiting for a copy");
      }
    }
    ~StagingLease() { stagings_.give(staging_); }
    StagingLease(const StagingLease&) = delete;
    const Staging* operator->() const { return &staging_; }

   private:
    Stagings& stagings_;
    const Staging staging_;
  };

  class CudaParcel : public Parcel {
   public:
    CudaParcel(CudaGpu& gpu, std::unique_ptr<StagingLease> staging)
        : Parcel((*staging)->memory), gpu_(gpu), staging_(std::move(staging)) {}
    void send(void* to, size_t first, size_t bytes, StreamHandle stream) override {
      const Entered here(gpu_.context_);
      check(driver().copy_in(address(to) + first, memory + first, bytes, stream), "copying to the GPU");
      check(driver().event_record((*staging_)->event, stream), "recording an event");
    }

   private:
    CudaGpu& gpu_;
    const std::unique_ptr<StagingLease> staging_;
  };

  StreamHandle new_stream() override {
    const Entered here(context_);
    cuda::Stream stream;
    check(driver().stream_create(&stream, cuda::kNonBlocking), "creating a stream");
    return stream;
  }

  cuda::Function function_of(const Kernel& kernel) {
    std::lock_guard lock(functions_mutex_);
    if (functions_.size() <= static_cast<size_t>(kernel.number)) functions_.resize(kernels().size());
    cuda::Function& function = functions_[kernel.number];
    if (function) return function;
    CompiledKernel compiled = compile_kernel(kernel, architecture_);
    cuda::Module module;
    if (driver().module_load(&module, compiled.code.data())) {  // a damaged file, perhaps: once more without it
      compiled = compile_kernel(kernel, architecture_, /*cached=*/false);
      check(driver().module_load(&module, compiled.code.data()), "loading a kernel");
    }
    check(driver().module_function(&function, module, compiled.name.c_str()), "finding a kernel");
    return function;
  }

  cuda::Context context_ = nullptr;
  std::string name_, architecture_;
  int processors_ = 1;
  std::mutex mutex_, functions_mutex_;
  Stagings stagings_{kStaging, kStagings}, small_stagings_{kSmallStaging, kSmallStagings};
  Stagings parcels_{kStaging, kStagings};  // apart: a thread that has one may copy other things before it sends it
  std::vector<Kept> kept_;
  std::vector<cuda::Function> functions_;
};

}  // namespace

std::unique_ptr<Gpu> make_cuda_gpu(int device) { return std::make_unique<CudaGpu>(device); }

}  // namespace avida
