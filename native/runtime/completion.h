// The lock under which values become ready, and the threads that wait for that.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "core/made_once.h"
#include "runtime/executor.h"
#include "runtime/fork.h"

namespace avida {

constexpr std::chrono::milliseconds kBetweenInterrupts{20};

// Guards the moment a value becomes ready and wakes the threads that wait for it, and no others. There is one for the
// process, since few threads wait.
class Completion : ForkAware {
 public:
  template <class Fn>
  void publish(Fn&& fn) {
    std::lock_guard lock(mutex_);
    fn();
    for (Waiter* waiter : waiters_)
      if (waiter->done()) waiter->wake.notify_one();
  }

  void wait(const std::function<bool()>& done, const Interrupt& interrupt) {
    Waiter self{done, {}};
    std::unique_lock lock(mutex_);
    while (!done()) {
      waiters_.push_back(&self);
      const bool timed_out = !sleep(self, lock, !interrupt);
      std::erase(waiters_, &self);
      if (!timed_out) continue;
      lock.unlock();
      interrupt();
      lock.lock();
    }
  }

  static Completion& instance() {
    static constinit MadeOnce<Completion> completion;
    return completion.get();
  }

 private:
  struct Waiter {
    const std::function<bool()>& done;
    std::condition_variable wake;
  };

  // Returns whether it was woken, and not by the time.
  static bool sleep(Waiter& self, std::unique_lock<std::mutex>& lock, bool for_ever) {
    if (!for_ever) return self.wake.wait_for(lock, kBetweenInterrupts) == std::cv_status::no_timeout;
    self.wake.wait(lock);
    return true;
  }

  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool in_child) override {
    if (in_child) waiters_.clear();  // they are threads of the parent
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::vector<Waiter*> waiters_;
  ForkRegistration fork_{this, Rank::completion};
};

}  // namespace avida
