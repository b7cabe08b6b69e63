#include "gpu/gpu.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "core/made_once.h"
#include "gpu/driver.h"
#include "gpu/library.h"
#include "gpu/make.h"
#include "gpu/pool.h"
#include "runtime/memory.h"

namespace avida {
namespace {

int fake_count() {
  const char* text = std::getenv("AVIDA_FAKE_GPU");
  return text ? std::atoi(text) : 0;
}

struct Found {
  std::string missing;
  std::vector<std::unique_ptr<Gpu>> gpus;  // created on first use
};

std::mutex making;
std::vector<Gpu*>& made() {  // the GPUs that were used so far; asking for them does not open the driver
  static constinit MadeOnce<std::vector<Gpu*>> gpus;
  return gpus.get();
}

std::atomic<Gpu*> copying = nullptr;
std::atomic<bool> is_settled = false;  // whether there is one

Found& found() {
  static constinit MadeOnce<Found> all;
  return all.get([] {
    auto found = std::make_unique<Found>();
    if (int fakes = fake_count(); fakes > 0) {
      found->gpus.resize(fakes);
    } else {
      found->missing = cuda::driver().missing;
      if (found->missing.empty()) found->gpus.resize(cuda::driver().devices);
    }
    return found;
  });
}

// Whether this process has a context of CUDA, made here or by another library.
bool uses_cuda() {
  if (fake_count() > 0) {
    std::lock_guard lock(making);
    return !made().empty();
  }
  if (cuda::forked() || !Library::is_loaded("libcuda.so.1") || !cuda::driver().missing.empty()) return false;
  for (int number = 0; number < cuda::driver().devices; number++) {
    unsigned flags = 0;
    int is_active = 0;
    if (cuda::driver().context_state(number, &flags, &is_active) == 0 && is_active) return true;
  }
  return false;
}

}  // namespace

class Gpu::Pool : public GpuPool {
 public:
  using GpuPool::GpuPool;
};

class Gpu::Pinned : public PinnedPool {
 public:
  using PinnedPool::PinnedPool;
};

struct Gpu::PinnedBlock {
  Pinned* pool;
  GpuPool::Taken taken;
  bool was_handed_over = false;

  static PinnedBlock* of(const Block& block) {
    auto* deleter = std::get_deleter<BlockDeleter>(block);
    return deleter ? static_cast<PinnedBlock*>(deleter->pinned.get()) : nullptr;
  }
};

int Gpu::count() { return static_cast<int>(found().gpus.size()); }

const std::string& Gpu::missing() { return found().missing; }

Gpu& Gpu::at(int device) {
  cuda::check_not_forked();  // before any lock, since a thread of the parent may have held it
  Found& all = found();
  if (all.gpus.empty()) refuse("there is no GPU: ", all.missing);
  if (device < 0 || device >= count())
    value_error("GPU ", device, " is out of range: there ", count() == 1 ? "is " : "are ", count());
  std::lock_guard lock(making);
  auto& gpu = all.gpus[device];
  if (!gpu) {
    gpu = fake_count() > 0 ? make_fake_gpu(device) : make_cuda_gpu(device);
    made().push_back(gpu.get());
  }
  return *gpu;
}

Gpu::Gpu(int device)
    : device(device),
      pool_(std::make_unique<Pool>(
          [this](size_t bytes, StreamHandle stream) {
            void* memory = take(bytes);
            // Kernels read whole words, also at the end of a sample, so the bytes beyond it must be initialised.
            if (memory) clear(memory, bytes, stream);
            return memory;
          },
          [this](void* memory) { give(memory); })),
      pinned_(std::make_unique<Pinned>([this](size_t bytes) { return take_pinned(bytes); },
                                       [this](void* memory) { give_pinned(memory); }, [this] { return mark_work(); })) {
  pinned_->set_budget(avida::memory_use().budget);
}
Gpu::~Gpu() = default;

Block Gpu::allocate(int64_t bytes, StreamHandle stream) {
  cuda::check_not_forked();
  if (bytes == 0) bytes = 1;  // so that the pointer is unique
  GpuPool::Taken taken = pool_->take(static_cast<size_t>(bytes), stream);
  if (!taken.memory)
    fail(ErrorKind::memory, "cannot allocate ", bytes, " bytes on GPU ", device, ": ", pool_->in_use(),
         " are in use here");
  return Block(taken.memory, BlockDeleter([this, taken, stream](void*) {
                 if (!cuda::forked()) pool_->give(taken, stream);  // the memory belongs to the parent process
               }));
}

int64_t Gpu::bytes_in_use() const { return pool_->in_use(); }
int64_t Gpu::bytes_kept() const { return pool_->kept(); }
int64_t Gpu::memory_budget() const { return pool_->budget(); }
void Gpu::set_memory_budget(int64_t bytes) { pool_->set_budget(bytes); }

Block Gpu::allocate_pinned(int64_t bytes) {
  if (cuda::forked()) return avida::allocate(bytes);
  GpuPool::Taken taken = pinned_->take(static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  if (!taken.memory)
    fail(ErrorKind::memory, "cannot allocate ", bytes, " bytes of pinned memory: ", pinned_->in_use(),
         " are in use here");
  auto pinned = std::make_shared<PinnedBlock>(pinned_.get(), taken);
  auto release = [pinned](void*) {
    if (!cuda::forked()) pinned->pool->give(pinned->taken, pinned->was_handed_over);  // else it is the parent's memory
  };
  return Block(taken.memory, BlockDeleter(std::move(release), Borrowed::no, pinned));
}

Block Gpu::allocate_for_copies(int64_t bytes) {
  if (cuda::forked() || pinned_->in_use() + bytes > avida::memory_use().budget) return avida::allocate(bytes);
  try {
    return allocate_pinned(bytes);
  } catch (const Error&) {
    return avida::allocate(bytes);
  }
}

Gpu* Gpu::that_copies() { return copying; }

bool Gpu::knows_copies() { return is_settled; }

void Gpu::note_hand_over(bool is_copied) {
  if (is_settled || !(is_copied || uses_cuda())) return;
  is_settled = true;
  try {
    Gpu& gpu = at(cuda::current_device());
    gpu.allocate_pinned(1);  // older drivers cannot
    copying = &gpu;
  } catch (const Error&) {  // then results lie in ordinary memory, as before
  }
}

bool Gpu::is_pinned(const Data& data) {
  for (int i = 0; i < data.size(); i++)
    if (!PinnedBlock::of(data.owner(i))) return false;
  return data.size() > 0;
}

void Gpu::hand_over(const Block& block) {
  PinnedBlock* pinned = PinnedBlock::of(block);
  if (!pinned || cuda::forked()) return;
  pinned->pool->hand_over();
  pinned->was_handed_over = true;
}

std::pair<int64_t, int64_t> Gpu::pinned_bytes() {
  std::pair<int64_t, int64_t> bytes{0, 0};
  if (cuda::forked()) return bytes;
  std::lock_guard lock(making);
  for (Gpu* gpu : made()) {
    bytes.first += gpu->pinned_->in_use();
    bytes.second += gpu->pinned_->kept();
  }
  return bytes;
}

void Gpu::set_pinned_budget(int64_t bytes) {
  if (cuda::forked()) return;
  std::lock_guard lock(making);
  for (Gpu* gpu : made()) gpu->pinned_->set_budget(bytes);
}

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
