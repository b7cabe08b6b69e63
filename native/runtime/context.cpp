#include "runtime/context.h"

#include <cstdlib>
#include <mutex>
#include <string>

namespace avida {
namespace {

struct SharedPool {
  std::mutex mutex;
  std::shared_ptr<ThreadPool> pool;
  static SharedPool& instance() {
    static SharedPool* shared = new SharedPool;  // never destroyed: threads may outlive the statics
    return *shared;
  }
};

int default_threads() {
  for (const char* name : {"AVIDA_NUM_THREADS", "DALI_NUM_THREADS"}) {
    const char* text = std::getenv(name);
    if (!text || !*text) continue;
    char* end;
    long n = std::strtol(text, &end, 10);
    if (*end || n < 1 || n > 4096) value_error(name, " must be a number of threads from 1 to 4096, got \"", text, '"');
    return static_cast<int>(n);
  }
  return available_cpus();
}

std::shared_ptr<ThreadPool> shared_pool() {
  auto& shared = SharedPool::instance();
  std::lock_guard lock(shared.mutex);
  if (!shared.pool) shared.pool = std::make_shared<ThreadPool>(default_threads());
  return shared.pool;
}

}  // namespace

std::shared_ptr<ThreadPool> Context::threads() const { return pool ? pool : shared_pool(); }

Ambient& Ambient::here() {
  static thread_local Ambient ambient;
  return ambient;
}

const std::shared_ptr<Context>& Ambient::current() {
  if (!context) context = std::make_shared<Context>(nullptr, -1);
  return context;
}

void set_num_threads(int threads) {
  auto pool = std::make_shared<ThreadPool>(threads > 0 ? threads : default_threads());
  auto& shared = SharedPool::instance();
  std::lock_guard lock(shared.mutex);
  shared.pool.swap(pool);
}

int num_threads() { return shared_pool()->threads(); }

}  // namespace avida
