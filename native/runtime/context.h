// Where and how operators run: a thread pool and an executor, and each thread's choice of them.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/data.h"
#include "runtime/executor.h"
#include "runtime/fork.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace avida {

class Gpu;
struct GpuStream;

enum class EvalMode { deferred, eager, sync_cpu, sync_full };

class Context : public std::enable_shared_from_this<Context> {
 public:
  Context(std::shared_ptr<ThreadPool> pool, int device_id) : pool(std::move(pool)), device_id(device_id) {}
  ~Context() { executor->close(); }
  Context(const Context&) = delete;

  const std::shared_ptr<ThreadPool> pool;  // null for the pool that all contexts share
  const std::shared_ptr<Executor> executor = Executor::create();
  const int device_id;                // the GPU it was created for; -1 for the one that the thread has selected
  std::shared_ptr<GpuStream> stream;  // for work on a GPU; null for the default stream
  // Nothing: in pinned memory as soon as they are copied to a GPU; see Gpu::that_copies().
  std::optional<ResultMemory> results;

  std::shared_ptr<ThreadPool> threads() const;

  // A context with the same threads and settings and an executor of its own. The calls that are made ahead for a batch
  // run in one lane, so that the work for neighbouring batches overlaps.
  std::shared_ptr<Context> lane(size_t number);
  // Those that were made so far.
  std::vector<std::shared_ptr<Context>> lanes() const;

 private:
  mutable ForkSafe<> lanes_mutex_{ForkAware::Rank::executor};
  std::vector<std::shared_ptr<Context>> lanes_;
};

// This thread's settings; `with` blocks push and pop them.
struct Ambient {
  EvalMode mode = EvalMode::eager;
  std::shared_ptr<Context> context;  // null until the default context is requested
  Device device;
  static Ambient& here();
  // The current context: the one entered last, or the thread's default.
  const std::shared_ptr<Context>& current();
};

// The threads of the shared pool; 0 selects the default: AVIDA_NUM_THREADS, DALI_NUM_THREADS, or the available CPUs.
void set_num_threads(int threads);
int num_threads();

}  // namespace avida
