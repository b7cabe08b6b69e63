#include "runtime/fork.h"

#include <pthread.h>

#include <map>
#include <mutex>
#include <utility>

namespace avida {
namespace {

struct Members {
  std::mutex mutex;
  std::multimap<ForkAware::Rank, ForkAware*> list;

  Members() {
    pthread_atfork([] { instance().prepare(); }, [] { instance().resume(false); }, [] { instance().resume(true); });
  }
  static Members& instance() {
    static Members* members = new Members;
    return *members;
  }
  void prepare() {
    mutex.lock();
    for (auto& [rank, member] : list) member->before_fork();
  }
  void resume(bool in_child) {
    for (auto& [rank, member] : list) member->after_fork(in_child);
    mutex.unlock();
  }
};

}  // namespace

ForkRegistration::ForkRegistration(ForkAware* member, ForkAware::Rank rank) : member_(member) {
  auto& members = Members::instance();
  std::lock_guard lock(members.mutex);
  members.list.emplace(rank, member);
}

ForkRegistration::~ForkRegistration() {
  auto& members = Members::instance();
  std::lock_guard lock(members.mutex);
  std::erase_if(members.list, [this](auto& entry) { return entry.second == member_; });
}

}  // namespace avida
