// A fork copies one thread only. Every class that owns threads or locks is ForkAware, or has locks that are ForkSafe:
// its lock is taken before the fork, so that the child finds consistent data, and after_fork(true) resets the state of
// threads that the child does not have. A fork takes all locks or none, and then tries again: it waits for no lock
// while it has another one, so that objects may register, and end, under any lock. Locks are released in the order of
// their ranks. Singletons that have locks are made while the library is loaded, and what is made later is MadeOnce
// (core/made_once.h).
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/made_once.h"

namespace avida {

class ForkAware {
 public:
  enum class Rank { loops, executor, thread_pool, reader, completion, memory, garbage, profile };

  // Takes the lock if it is free; returns whether it was.
  virtual bool try_before_fork() = 0;
  virtual void after_fork(bool in_child) = 0;

 protected:
  ~ForkAware() = default;
};

// The last member of a ForkAware class: registers it from the end of its construction to the start of its destruction.
class ForkRegistration {
 public:
  ForkRegistration(ForkAware* member, ForkAware::Rank rank);
  ~ForkRegistration();
  ForkRegistration(const ForkRegistration&) = delete;

 private:
  ForkAware* member_;
};

// A mutex that a fork takes, for a class that has nothing else to do at a fork.
template <class Mutex = std::mutex>
class ForkSafe : public Mutex, ForkAware {
 public:
  explicit ForkSafe(Rank rank) : fork_{this, rank} {}

 private:
  bool try_before_fork() override { return this->try_lock(); }
  void after_fork(bool) override { this->unlock(); }
  ForkRegistration fork_;
};

// All objects of a class that exist in this process, for what is to be done with each of them.
template <class T, ForkAware::Rank rank>
class AllOf {
 public:
  void add(std::weak_ptr<T> object) {
    std::lock_guard lock(mutex_);
    std::erase_if(list_, [](auto& weak) { return weak.expired(); });
    list_.push_back(std::move(object));
  }
  std::vector<std::shared_ptr<T>> alive() {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> out;
    for (auto& weak : list_)
      if (auto object = weak.lock()) out.push_back(std::move(object));
    return out;
  }
  static AllOf& instance() {
    static constinit MadeOnce<AllOf> all;
    return all.get();
  }

 private:
  ForkSafe<> mutex_{rank};
  std::vector<std::weak_ptr<T>> list_;
};

}  // namespace avida
