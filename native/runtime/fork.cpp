#include "runtime/fork.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace avida {

struct ForkMembers {
  std::mutex mutex;
  std::vector<ForkAware*> list;

  ForkMembers() {
    pthread_atfork([] { members().prepare(); }, [] { members().resume(false); }, [] { members().resume(true); });
  }
  static ForkMembers& members() {
    static ForkMembers* members = new ForkMembers;
    return *members;
  }
  void prepare() {
    mutex.lock();
    for (ForkAware* member : list) member->before_fork();
  }
  void resume(bool in_child) {
    for (ForkAware* member : list) member->after_fork(in_child);
    mutex.unlock();
  }
};

ForkAware::ForkAware(Rank rank) : rank_(rank) {
  auto& m = ForkMembers::members();
  std::lock_guard lock(m.mutex);
  auto after = std::upper_bound(m.list.begin(), m.list.end(), this,
                                [](auto* a, auto* b) { return a->rank_ < b->rank_; });
  m.list.insert(after, this);
}

ForkAware::~ForkAware() {
  auto& m = ForkMembers::members();
  std::lock_guard lock(m.mutex);
  std::erase(m.list, this);
}

}  // namespace avida
