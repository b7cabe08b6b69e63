// A fork copies one thread only. Whatever owns locks or threads derives from ForkAware: its lock is taken before the
// fork, so that the child finds it consistent, and after_fork(true) lets it forget the threads it no longer has.
// Locks are taken in the order of their ranks, the order in which they nest anywhere else.
#pragma once

namespace avida {

class ForkAware {
 public:
  ForkAware(const ForkAware&) = delete;
  enum class Rank { executor, thread_pool, completion, memory, garbage };

  virtual void before_fork() = 0;
  virtual void after_fork(bool in_child) = 0;

 protected:
  explicit ForkAware(Rank rank);
  virtual ~ForkAware();

 private:
  friend struct ForkMembers;
  Rank rank_;
};

}  // namespace avida
