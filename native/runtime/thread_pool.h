// A thread pool; parallel_for shares work among its threads.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/fork.h"
#include "runtime/profile.h"

namespace avida {

class ThreadPool : public std::enable_shared_from_this<ThreadPool>, ForkAware {
 public:
  // `threads` includes the caller of parallel_for: a pool of one starts no thread. Threads start with the first work.
  explicit ThreadPool(int threads);
  ~ThreadPool();

  int threads() const { return threads_; }

  // Which indices a thread begins with, the same ones in every call: neighbours, or every n-th, for work that is sorted
  // by size. Or nobody has a share, and all take the next index: that balances sorted work best.
  enum class Share { neighbours, dealt, in_order };

  // Runs fn(0) ... fn(n - 1) on the caller and the pool's threads; returns when all are done. Each thread begins with a
  // share of its own, and then helps the others. If several throw, the exception with the lowest index is rethrown, so
  // that the outcome does not depend on timing.
  // fn may call parallel_for itself: a caller waits only for what other threads have begun, and never for a thread to
  // become free.
  void parallel_for(int64_t n, const std::function<void(int64_t)>& fn, Share share = Share::neighbours);

  // How many threads wait for work; out of date at once. It may decide how work is shared, never what comes of it.
  int idle() const;

 private:
  struct Job {
    struct alignas(64) Indices {  // of one thread's share
      std::atomic<int64_t> next;
      int64_t end, step;
      bool anything_left() const { return next.load(std::memory_order_relaxed) < end; }
    };
    Job(int64_t n, const std::function<void(int64_t)>& fn, int threads, Share share);
    const int64_t n;
    const std::function<void(int64_t)>& fn;
    std::vector<Indices> shares;
    std::atomic<int64_t> done{0};
    std::mutex mutex;
    std::exception_ptr error;
    int64_t error_index = -1;
    std::optional<profile::Event> help;  // what profiles say of the threads that help the caller
    void work(bool helps);
  };

  bool try_before_fork() override;
  void after_fork(bool in_child) override;
  void start_threads();
  void loop(int number);

  const int threads_;
  std::mutex mutex_;
  std::condition_variable work_, finished_;
  std::list<std::shared_ptr<Job>> jobs_;  // until a thread finds nothing left to begin
  std::vector<std::thread> workers_;
  bool stop_ = false;
  std::atomic<int> idle_{0};
  std::atomic<bool> started_{false};
  ForkRegistration fork_{this, Rank::thread_pool};
};

// The number of CPUs that this process may use, from affinity and cgroup limits.
int available_cpus();

}  // namespace avida
