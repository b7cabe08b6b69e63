#include "runtime/context.h"

#include <cstdlib>
#include <mutex>
#include <string>

#include "core/made_once.h"

namespace avida {
namespace {

class SharedPool {
 public:
  std::shared_ptr<ThreadPool> get() {
    std::lock_guard lock(mutex_);
    return pool_;
  }
  // Sets the pool; without `replace`, only if there is none yet.
  void set(std::shared_ptr<ThreadPool> pool, bool replace) {
    std::lock_guard lock(mutex_);
    if (replace || !pool_) pool_.swap(pool);
  }
  static SharedPool& instance() {
    static constinit MadeOnce<SharedPool> shared;  // never destroyed: threads may outlive the statics
    return shared.get();
  }

 private:
  ForkSafe<> mutex_{ForkAware::Rank::executor};
  std::shared_ptr<ThreadPool> pool_;
};

[[maybe_unused]] const bool made_at_load = (SharedPool::instance(), true);

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
  if (auto pool = shared.get()) return pool;
  shared.set(std::make_shared<ThreadPool>(default_threads()), false);
  return shared.get();
}

}  // namespace

std::shared_ptr<ThreadPool> Context::threads() const { return pool ? pool : shared_pool(); }

std::shared_ptr<Context> Context::lane(size_t number) {
  std::lock_guard lock(lanes_mutex_);
  while (lanes_.size() <= number) {
    auto made = std::make_shared<Context>(pool, device_id);
    made->results = results;
    lanes_.push_back(std::move(made));
  }
  return lanes_[number];
}

std::vector<std::shared_ptr<Context>> Context::lanes() const {
  std::lock_guard lock(lanes_mutex_);
  return lanes_;
}

Ambient& Ambient::here() {
  static thread_local Ambient ambient;
  return ambient;
}

const std::shared_ptr<Context>& Ambient::current() {
  if (!context) context = std::make_shared<Context>(nullptr, -1);
  return context;
}

void set_num_threads(int threads) {
  SharedPool::instance().set(std::make_shared<ThreadPool>(threads > 0 ? threads : default_threads()), true);
}

int num_threads() { return shared_pool()->threads(); }

}  // namespace avida
