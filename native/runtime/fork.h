// A fork copies one thread only. Every class that owns locks or threads is ForkAware: its lock is taken before the
// fork, so that the child finds consistent data, and after_fork(true) resets the state of threads that the child does
// not have. A fork takes all locks or none, and then tries again: it waits for no lock while it has another one, so
// that objects may register, and end, under any lock. Locks are released in the order of their ranks. Singletons that
// have locks are made while the library is loaded, and what is made later is MadeOnce (core/made_once.h).
#pragma once

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

}  // namespace avida
