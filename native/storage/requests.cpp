// Many requests at the same time, for stores that answer them one by one: on threads that wait for the answers.
#include <algorithm>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "runtime/fork.h"
#include "storage/storage.h"
#include "storage/waiting.h"

namespace avida::storage {
namespace {

constexpr auto kWake = std::chrono::milliseconds(20);  // to look for interrupts
constexpr auto kIdle = std::chrono::seconds(2);        // after which a thread ends

// The requests of one call. It owns them, since a thread may still be at one when the caller was interrupted.
struct Job {
  enum State { open, under_way, done };

  Job(std::shared_ptr<const Store> store, std::span<const Request> given)
      : store(std::move(store)), requests(given.begin(), given.end()), states(given.size(), open), left(given.size()) {}
  void ask_again() {
    new (&answered) std::condition_variable;
    std::ranges::replace(states, under_way, open);
    next = 0;
  }

  const std::shared_ptr<const Store> store;
  std::vector<Request> requests;
  std::vector<State> states;
  size_t next = 0;  // the first request that may be open
  size_t left;      // requests that are not done
  const std::thread::id caller = std::this_thread::get_id();
  std::condition_variable answered;
};

class Workers : ForkAware {
 public:
  // Returns when all are answered. What interrupts the caller leaves the rest unasked.
  void run(const std::shared_ptr<Job>& job) {
    std::unique_lock lock(mutex_);
    jobs_.push_back(job);
    try {
      while (job->left > 0) {
        start_threads(*job);
        if (job->answered.wait_for(lock, kWake) == std::cv_status::no_timeout) continue;
        lock.unlock();
        Interruptible::check();
        lock.lock();
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      jobs_.remove(job);
      throw;
    }
    jobs_.remove(job);
  }
  static Workers& instance() { return *instance_; }

 private:
  static Workers* const instance_;

  void start_threads(const Job& job) {
    work_.notify_all();
    const auto open = static_cast<int>(std::min<size_t>(job.requests.size() - job.next, INT_MAX));
    const int askable = std::min(open, job.store->most_requests() - under_way_[job.store.get()]);
    for (int more = askable - idle_ - starting_; more > 0; more--) {
      try {
        std::thread([this] { work(); }).detach();
      } catch (const std::system_error& error) {
        if (threads_ == 0) refuse("cannot start a thread for a store: ", error.what());
        return;
      }
      threads_++;
      starting_++;
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    starting_--;
    while (true) {
      const auto [job, i] = next();
      if (!job) {
        idle_++;
        const bool is_over = work_.wait_for(lock, kIdle) == std::cv_status::timeout;
        idle_--;
        if (is_over && !any_open()) break;
        continue;
      }
      Request request = job->requests[i];
      lock.unlock();
      try {
        job->store->get(request);
      } catch (...) {
        request.error = std::current_exception();
      }
      lock.lock();
      finish(*job, i, std::move(request));
    }
    threads_--;
  }

  // The first request whose store may be asked, which is under way from now on.
  std::pair<std::shared_ptr<Job>, size_t> next() {
    for (const auto& job : jobs_) {
      size_t& at = job->next;
      while (at < job->requests.size() && job->states[at] != Job::open) at++;
      int& under_way = under_way_[job->store.get()];
      if (at == job->requests.size() || under_way >= job->store->most_requests()) continue;
      under_way++;
      job->states[at] = Job::under_way;
      return {job, at};
    }
    return {};
  }
  bool any_open() const {
    for (const auto& job : jobs_)
      if (job->next < job->requests.size()) return true;
    return false;
  }
  void finish(Job& job, size_t i, Request request) {
    under_way_[job.store.get()]--;
    job.requests[i] = std::move(request);
    job.states[i] = Job::done;
    if (--job.left == 0) job.answered.notify_all();
  }

  bool try_before_fork() override { return mutex_.try_lock(); }
  // The child has no threads: what they were at is asked again, if its own thread waits for it.
  void after_fork(bool in_child) override {
    if (in_child) {
      new (&work_) std::condition_variable;
      threads_ = starting_ = idle_ = 0;
      under_way_.clear();
      jobs_.remove_if([](const auto& job) { return job->caller != std::this_thread::get_id(); });
      for (const auto& job : jobs_) job->ask_again();
    }
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::condition_variable work_;
  std::list<std::shared_ptr<Job>> jobs_;
  std::map<const Store*, int> under_way_;
  int threads_ = 0, starting_ = 0, idle_ = 0;
  ForkRegistration fork_{this, Rank::reader};
};

Workers* const Workers::instance_ = new Workers;

}  // namespace

void Store::fetch(std::span<Request> requests) const {
  if (requests.empty()) return;
  const auto job = std::make_shared<Job>(shared_from_this(), requests);
  Workers::instance().run(job);
  std::ranges::move(job->requests, requests.begin());
}

}  // namespace avida::storage
