#include "runtime/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <system_error>

namespace avida {
namespace {

thread_local int number_of_thread = 0;  // in its pool; 0 for whoever calls parallel_for from outside

}  // namespace

ThreadPool::Job::Job(int64_t n, const std::function<void(int64_t)>& fn, int threads, Share share)
    : n(n), fn(fn), shares(static_cast<size_t>(share == Share::in_order ? 1 : std::min<int64_t>(threads, n))) {
  const int64_t count = std::ssize(shares);
  for (int64_t k = 0; k < count; k++)
    if (Indices& indices = shares[static_cast<size_t>(k)]; share == Share::dealt) {
      indices.next = k, indices.end = n, indices.step = count;
    } else {
      indices.next = n * k / count, indices.end = n * (k + 1) / count, indices.step = 1;
    }
}

void ThreadPool::Job::work(bool helps) {
  profile::Span span;
  int64_t mine = 0;
  for (size_t k = 0; k < shares.size(); k++) {
    Indices& share = shares[(static_cast<size_t>(number_of_thread) + k) % shares.size()];
    for (int64_t i; share.anything_left() && (i = share.next.fetch_add(share.step)) < share.end; mine++) {
      if (mine == 0 && helps && help) span.begin(*help);
      try {
        fn(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (error_index < 0 || i < error_index) {
          error = std::current_exception();
          error_index = i;
        }
      }
    }
  }
  span.end();  // before the caller can go on
  done.fetch_add(mine, std::memory_order_acq_rel);
}

ThreadPool::ThreadPool(int threads) : threads_(std::max(1, threads)) {}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::parallel_for(int64_t n, const std::function<void(int64_t)>& fn, Share share) {
  if (n <= 1 || threads_ == 1) {
    for (int64_t i = 0; i < n; i++) fn(i);
    return;
  }
  auto job = std::make_shared<Job>(n, fn, threads_, share);
  if (profile::on()) job->help = profile::Work::event(profile::Kind::part);
  {
    std::lock_guard lock(mutex_);
    start_threads();
    jobs_.push_back(job);
  }
  if (n == 2)
    work_.notify_one();
  else
    work_.notify_all();
  job->work(false);
  std::unique_lock lock(mutex_);
  jobs_.remove(job);
  finished_.wait(lock, [&] { return job->done.load(std::memory_order_acquire) == n; });
  lock.unlock();
  if (job->error) std::rethrow_exception(job->error);
}

int ThreadPool::idle() const { return started_ ? idle_.load(std::memory_order_relaxed) : threads_ - 1; }

void ThreadPool::start_threads() {
  if (!workers_.empty()) return;
  started_ = true;
  try {
    for (int i = 1; i < threads_; i++)
      workers_.emplace_back([this, i] {
        pthread_setname_np(pthread_self(), "avida-pool");
        loop(i);
      });
  } catch (const std::system_error&) {
    // The system allows no more threads. The threads that were started, or the caller alone, do the work.
  }
}

void ThreadPool::loop(int number) {
  number_of_thread = number;
  std::unique_lock lock(mutex_);
  while (true) {
    if (jobs_.empty()) {
      if (stop_) return;
      idle_++;
      work_.wait(lock);
      idle_--;
      continue;
    }
    const std::shared_ptr<Job> job = jobs_.front();
    lock.unlock();
    job->work(true);
    lock.lock();
    jobs_.remove(job);
    if (job->done.load(std::memory_order_acquire) == job->n) finished_.notify_all();
  }
}

bool ThreadPool::try_before_fork() { return mutex_.try_lock(); }

void ThreadPool::after_fork(bool in_child) {
  if (in_child) {
    // The threads exist only in the parent: reinitialise without running destructors on their state.
    new (&workers_) std::vector<std::thread>;
    new (&work_) std::condition_variable;
    new (&finished_) std::condition_variable;
    jobs_.clear();
    idle_ = 0;
    started_ = false;
  }
  mutex_.unlock();
}

namespace {

// CPUs granted by the cgroup's quota, or 0 without one. Version 2 first, then version 1.
double cgroup_cpus() {
  std::ifstream self("/proc/self/cgroup");
  std::string line, path;
  while (std::getline(self, line))
    if (line.starts_with("0::")) path = line.substr(3);
  double least = 0;
  auto consider = [&](double quota, double period) {
    if (quota > 0 && period > 0 && (least == 0 || quota / period < least)) least = quota / period;
  };
  // Any ancestor cgroup may set a limit.
  for (std::string at = path;; at = at.substr(0, at.find_last_of('/'))) {
    std::ifstream max("/sys/fs/cgroup" + at + "/cpu.max");
    std::string quota;
    double period;
    if (max >> quota >> period && quota != "max") consider(std::atof(quota.c_str()), period);
    if (at.empty() || at == "/") break;
  }
  std::ifstream quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double q, p;
  if (quota >> q && period >> p) consider(q, p);
  return least;
}

}  // namespace

int available_cpus() {
  int cpus = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) cpus = CPU_COUNT(&set);
  if (double quota = cgroup_cpus(); quota > 0) cpus = std::min(cpus, static_cast<int>(std::ceil(quota)));
  return std::max(1, cpus);
}

}  // namespace avida
