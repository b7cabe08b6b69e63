// A real GPU, through the CUDA driver API.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>

#include "gpu/compiler.h"
#include "gpu/driver.h"
#include "gpu/entered.h"
#include "gpu/make.h"

namespace avida {
namespace {

using cuda::check;
using cuda::driver;
using cuda::Entered;

// Pinned staging buffers for copies: their sizes in bytes, and their maximum counts.
constexpr size_t kStaging = Gpu::Parcel::kBytes, kSmallStaging = size_t(64) << 10;
constexpr int kStagings = 48, kSmallStagings = 64;

cuda::Pointer address(const void* memory) { return reinterpret_cast<cuda::Pointer>(memory); }

// Keeps the primary context of a GPU alive within a scope.
class Primary {
 public:
  explicit Primary(cuda::DeviceNumber number) : number_(number) {
    check(driver().context_retain(&context, number), "creating the GPU's context");
  }
  ~Primary() { driver().context_release(number_); }
  Primary(const Primary&) = delete;
  cuda::Context context = nullptr;

 private:
  const cuda::DeviceNumber number_;
};

class CudaGpu : public Gpu {
 public:
  explicit CudaGpu(int device) : Gpu(device) {
    cuda::DeviceNumber number;
    check(driver().device_get(&number, device), "finding the GPU");
    char name[256] = {};
    check(driver().device_name(name, sizeof(name), number), "asking for the GPU's name");
    name_ = name;
    int major, minor;
    check(driver().device_attribute(&major, cuda::kComputeMajor, number), "asking for the GPU's architecture");
    check(driver().device_attribute(&minor, cuda::kComputeMinor, number), "asking for the GPU's architecture");
    check(driver().device_attribute(&processors_, cuda::kProcessors, number), "asking for the GPU's size");
    architecture_ = str("sm_", major, minor);
    start_compiling(architecture_);  // the context takes a while, too
    check(driver().context_retain(&context_, number), "creating the GPU's context");
  }

  std::string name() const override { return name_; }
  std::string architecture() const override { return architecture_; }
  void* context() const override { return context_; }

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
    driver().event_destroy(event);  // takes effect when it is no longer needed
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

  std::unique_ptr<Timer> timer(StreamHandle stream) override {
    const Entered here(context_);
    auto timer = std::make_unique<CudaTimer>(*this, stream);
    return timer->begin() ? std::move(timer) : nullptr;
  }

  void copy_in_pinned(void* to, const void* from, size_t bytes, StreamHandle stream) override {
    const Entered here(context_);
    check(driver().copy_in(address(to), from, bytes, stream), "copying to the GPU");
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
    // Enough blocks to fill the GPU several times; more would only add launch overhead.
    const int threads = kernel.block_threads ? kernel.block_threads : kItemThreads;
    int64_t blocks = kernel.block_threads ? most_items : (most_items + kItemThreads - 1) / kItemThreads;
    int64_t enough = std::max<int64_t>(1, int64_t(processors_) * 64 / samples);
    auto grid = static_cast<unsigned>(std::min(blocks, enough));
    void* parameters[] = {&items};
    constexpr int kMostRows = 65535;
    for (int first = 0; first < samples; first += kMostRows) {
      check(driver().launch(function, grid, static_cast<unsigned>(std::min(samples - first, kMostRows)), 1,
                            static_cast<unsigned>(threads), 1, 1, 0, stream, parameters, nullptr),
            "launching a kernel");
      items = static_cast<const char*>(items) + kernel.bytes * kMostRows;
    }
  }
  int64_t bytes_left() const override {
    const Entered here(context_);
    size_t left = 0, all = 0;
    check(driver().memory_info(&left, &all), "asking for the memory of the GPU");
    return static_cast<int64_t>(left);
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
    release([&] { driver().memory_give(address(memory)); });
  }

  void* take_pinned(size_t bytes) override {
    if (!driver().context_record)
      refuse("results in pinned memory need a newer NVIDIA driver: this one has no cuCtxRecordEvent (CUDA 12.5)");
    const Entered here(context_);
    void* memory = nullptr;
    cuda::Result result = driver().pinned_take(&memory, bytes, cuda::kPortable);
    if (result == cuda::kOutOfMemory) return nullptr;
    check(result, "allocating pinned memory");
    return memory;
  }
  void give_pinned(void* memory) noexcept override {
    release([&] { driver().pinned_give(memory); });
  }

  // Any GPU may read pinned memory, so the work of all primary contexts is marked. Other libraries use these too.
  std::function<bool()> mark_work() override {
    auto marks = std::make_shared<Marks>();
    for (int i = 0; i < driver().devices; i++) {
      cuda::DeviceNumber number;
      unsigned flags;
      int is_active = 0;
      check(driver().device_get(&number, i), "finding the GPU");
      check(driver().context_state(number, &flags, &is_active), "asking for the GPU's state");
      if (!is_active) continue;
      const Primary primary(number);
      const Entered here(primary.context);
      cuda::Event& event = marks->events.emplace_back();
      check(driver().event_create(&event, cuda::kNoTiming), "creating an event");
      cuda::Result result = driver().context_record(primary.context, event);
      if (result == cuda::kCapturing) return {};
      check(result, "recording an event");
    }
    return [this, marks] {
      const Entered here(context_);
      return std::ranges::none_of(marks->events,
                                  [](cuda::Event event) { return driver().event_query(event) == cuda::kNotReady; });
    };
  }

 private:
  struct Kept {
    std::shared_ptr<void> thing;
    cuda::Event until;
  };

  template <class Give>
  void release(Give give) noexcept {
    try {
      const Entered here(context_);
      give();
    } catch (const Error&) {  // the process is exiting, and the driver is already unloaded
    }
  }

  struct Marks {
    std::vector<cuda::Event> events;
    ~Marks() {
      for (cuda::Event event : events) driver().event_destroy(event);
    }
  };

  // Releases the kept objects whose work is done.
  void let_go() {
    std::vector<Kept> done;  // destroyed after the lock is released
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
    cuda::Event event;  // recorded after the last copy
  };
  // Buffers of one size; new ones are allocated while all others are in use.
  struct Stagings {
    const size_t bytes;
    const int most;
    std::mutex mutex;
    std::condition_variable returned;
    std::deque<Staging> free;  // the least recently used buffer comes first
    int made = 0;

    Staging take() {
      std::unique_lock lock(mutex);
      const bool busy = free.empty() || driver().event_query(free.front().event) == cuda::kNotReady;
      if (busy && made < most) {
        Staging staging;
        check(driver().event_create(&staging.event, cuda::kNoTiming), "creating an event");
        const cuda::Result result = driver().pinned_take(&staging.memory, bytes, cuda::kPortable);
        if (result == 0) {
          made++;
          return staging;
        }
        driver().event_destroy(staging.event);
        if (made == 0) check(result, "allocating pinned memory");  // else the existing buffers are enough
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
      returned.notify_all();  // pthread_cond_signal of glibc before 2.41 may wake nobody
    }
  };

  // One of the buffers, after its last copy has finished. The destructor returns it.
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

  // A moment that is known in the time of the GPU and in that of the CPU.
  struct Instant {
    cuda::Event event = nullptr;
    int64_t time = 0;
    Instant() = default;
    ~Instant() {
      if (event) driver().event_destroy(event);
    }
    Instant(const Instant&) = delete;
  };

  // A recent instant: events tell distances in milliseconds as a float, and clocks drift. Null if the GPU has failed.
  std::shared_ptr<const Instant> instant() {
    constexpr int64_t kRecent = 5'000'000'000;
    std::lock_guard lock(mutex_);
    if (instant_ && profile::now() - instant_->time < kRecent) return instant_;
    auto made = std::make_shared<Instant>();
    if (!instants_) instants_ = new_stream();  // without work, so that nothing is waited for
    if (driver().event_create(&made->event, cuda::kTiming) || driver().event_record(made->event, instants_) ||
        driver().event_synchronize(made->event))
      return nullptr;
    made->time = profile::now();
    return instant_ = std::move(made);
  }

  class CudaTimer : public Timer {
   public:
    CudaTimer(CudaGpu& gpu, StreamHandle stream) : gpu_(gpu), stream_(stream) {}
    ~CudaTimer() override {
      cuda::Context own;
      if (driver().context_push(gpu_.context_)) return;  // as in give()
      for (cuda::Event event : events_)
        if (event) driver().event_destroy(event);
      instant_.reset();
      driver().context_pop(&own);
    }

    bool begin() { return (instant_ = gpu_.instant()) && mark(events_[0]); }
    bool end() override {
      cuda::Context own;
      if (driver().context_push(gpu_.context_)) return false;
      const bool marked = mark(events_[1]);
      driver().context_pop(&own);
      return marked;
    }
    bool done() override {
      const Entered here(gpu_.context_);
      return driver().event_query(events_[1]) != cuda::kNotReady;
    }
    std::pair<int64_t, int64_t> begin_and_end() override {
      const Entered here(gpu_.context_);
      check(driver().event_synchronize(events_[1]), "waiting for the GPU");
      return {time_of(events_[0]), time_of(events_[1])};
    }

   private:
    bool mark(cuda::Event& event) {
      return !driver().event_create(&event, cuda::kTiming) && !driver().event_record(event, stream_);
    }
    int64_t time_of(cuda::Event event) const {
      float milliseconds;
      check(driver().event_elapsed(&milliseconds, instant_->event, event), "measuring the time of the GPU");
      return instant_->time + static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
    }

    CudaGpu& gpu_;
    const StreamHandle stream_;
    std::shared_ptr<const Instant> instant_;
    cuda::Event events_[2] = {};
  };

  StreamHandle new_stream() override {
    const Entered here(context_);
    cuda::Stream stream;
    check(driver().stream_create(&stream, cuda::kNonBlocking), "creating a stream");
    return stream;
  }

  struct Loaded {
    cuda::Function function = nullptr;
    bool quickly = false;  // compiled so
  };

  cuda::Function function_of(const Kernel& kernel) {
    std::lock_guard lock(functions_mutex_);
    if (functions_.size() <= static_cast<size_t>(kernel.number)) functions_.resize(kernels().size());
    Loaded& loaded = functions_[kernel.number];
    if (loaded.function && loaded.quickly) {
      try {
        if (auto better = better_kernel(kernel, architecture_)) loaded = load(kernel, std::move(*better));
      } catch (const std::exception&) {
        loaded.quickly = false;  // it stays, slow as it is
      }
    } else if (!loaded.function) {
      loaded = load(kernel, compile_kernel(kernel, architecture_));
    }
    return loaded.function;
  }

  Loaded load(const Kernel& kernel, CompiledKernel compiled) {
    cuda::Module module;
    if (driver().module_load(&module, compiled.code.data())) {  // the cached file may be damaged: compile again
      compiled = compile_kernel(kernel, architecture_, /*cached=*/false);
      check(driver().module_load(&module, compiled.code.data()), "loading a kernel");
    }
    Loaded loaded{nullptr, compiled.quickly};
    check(driver().module_function(&loaded.function, module, compiled.name.c_str()), "finding a kernel");
    return loaded;
  }

  cuda::Context context_ = nullptr;
  std::string name_, architecture_;
  int processors_ = 1;
  std::mutex mutex_, functions_mutex_;
  Stagings stagings_{kStaging, kStagings}, small_stagings_{kSmallStaging, kSmallStagings};
  Stagings parcels_{kStaging, kStagings};  // separate: a thread that holds one may copy other data before it sends it
  std::vector<Kept> kept_;
  std::shared_ptr<const Instant> instant_;
  StreamHandle instants_ = nullptr;
  std::vector<Loaded> functions_;
};

}  // namespace

std::unique_ptr<Gpu> make_cuda_gpu(int device) { return std::make_unique<CudaGpu>(device); }

}  // namespace avida
