// A fork copies one thread only. Whatever owns locks or threads is ForkAware: its lock is taken before the fork, so
// that the child finds it consistent, and after_fork(true) lets it forget the threads it no longer has. Locks are taken
// in the order of their ranks, the order in which they nest anywhere else.
#pragma once

namespace avida {

class ForkAware {
 public:
  enum class Rank { executor, thread_pool, reader, completion, memory, garbage };

  virtual void before_fork() = 0;
  virtual void after_fork(bool in_child) = 0;

 protected:
  ~ForkAware() = default;
};

// The last member of a ForkAware class: known to forks from the end of its construction to the start of its
// destruction.
class ForkRegistration {
 public:
  ForkRegistration(ForkAware* member, ForkAware::Rank rank);
  ~ForkRegistration();
  ForkRegistration(const ForkRegistration&) = delete;

 private:
  ForkAware* member_;
};

}  // namespace avida
