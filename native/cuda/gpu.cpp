#include "cuda/gpu.h"

#include <cstdlib>
#include <mutex>
#include <vector>

#include "cuda/driver.h"
#include "cuda/make.h"
#include "cuda/pool.h"

namespace avida {
namespace {

int fake_count() {
  const char* text = std::getenv("AVIDA_FAKE_GPU");
  return text ? std::atoi(text) : 0;
}

struct Found {
  std::string missing;
  std::vector<std::unique_ptr<Gpu>> gpus;  // made when first used
};

Found& found() {
  static auto* all = [] {
    auto* found = new Found;
    if (int fakes = fake_count(); fakes > 0) {
      found->gpus.resize(fakes);
    } else {
      found->missing = cuda::driver().missing;
      if (found->missing.empty()) found->gpus.resize(cuda::driver().devices);
    }
    return found;
  }();
  return *all;
}

}  // namespace

class Gpu::Pool : public GpuPool {
 public:
  using GpuPool::GpuPool;
};

int Gpu::count() { return static_cast<int>(found().gpus.size()); }

const std::string& Gpu::missing() { return found().missing; }

Gpu& Gpu::at(int device) {
  cuda::check_not_forked();  // before any lock, which a thread of the other process may have held
  static std::mutex making;
  Found& all = found();
  if (all.gpus.empty()) fail(ErrorKind::runtime, "there is no GPU: ", all.missing);
  if (device < 0 || device >= count())
    value_error("GPU ", device, " is out of range: there ", count() == 1 ? "is " : "are ", count());
  std::lock_guard lock(making);
  auto& gpu = all.gpus[device];
  if (!gpu) gpu = fake_count() > 0 ? make_fake_gpu(device) : make_cuda_gpu(device);
  return *gpu;
}

Gpu::Gpu(int device)
    : device(device),
      pool_(std::make_unique<Pool>(
          [this](size_t bytes, StreamHandle stream) {
            void* memory = take(bytes);
            // Kernels read whole words, also where a sample ends within one: what lies beyond must be something.
            if (memory) clear(memory, bytes, stream);
            return memory;
          },
          [this](void* memory) { give(memory); })) {}
Gpu::~Gpu() = default;

Block Gpu::allocate(int64_t bytes, StreamHandle stream) {
  cuda::check_not_forked();
  if (bytes == 0) bytes = 1;  // a pointer of its own
  GpuPool::Taken taken = pool_->take(static_cast<size_t>(bytes), stream);
  if (!taken.memory)
    fail(ErrorKind::memory, "cannot allocate ", bytes, " bytes on GPU ", device, ": ", pool_->in_use(),
         " are in use here");
  return Block(taken.memory, [this, taken, stream](void*) {
    if (!cuda::forked()) pool_->give(taken, stream);  // what another process has is left to it
  });
}

int64_t Gpu::bytes_in_use() const { return pool_->in_use(); }
int64_t Gpu::bytes_kept() const { return pool_->kept(); }
int64_t Gpu::memory_budget() const { return pool_->budget(); }
void Gpu::set_memory_budget(int64_t bytes) { pool_->set_budget(bytes); }

std::shared_ptr<GpuStream> Gpu::create_stream() {
  StreamHandle handle = nullptr;
  {
    std::lock_guard lock(streams_mutex_);
    if (!free_streams_.empty()) {
      handle = free_streams_.back();
      free_streams_.pop_back();
    }
  }
  if (!handle) handle = new_stream();
  return std::make_shared<GpuStream>(device, handle, [this, handle] {
    std::lock_guard lock(streams_mutex_);
    free_streams_.push_back(handle);
  });
}

const std::shared_ptr<GpuStream>& Gpu::default_stream() {
  std::call_once(default_made_, [this] { default_stream_ = create_stream(); });
  return default_stream_;
}

}  // namespace avida
