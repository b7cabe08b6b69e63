#include "runtime/fork.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "core/made_once.h"

namespace avida {
namespace {

struct Members {
  std::mutex mutex;
  std::multimap<ForkAware::Rank, ForkAware*> list;

  Members() {
    pthread_atfork([] { instance().prepare(); }, [] { instance().resume(false); }, [] { instance().resume(true); });
  }
  static Members& instance() {
    static constinit MadeOnce<Members> members;
    return members.get();
  }
  void prepare() {
    while (!try_lock_all()) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  void resume(bool in_child) {
    for (auto& [rank, member] : list) member->after_fork(in_child);
    mutex.unlock();
  }

 private:
  bool try_lock_all() {
    mutex.lock();
    auto busy = std::ranges::find_if_not(list, [](auto& entry) { return entry.second->try_before_fork(); });
    if (busy == list.end()) return true;
    for (auto taken = list.begin(); taken != busy; ++taken) taken->second->after_fork(false);
    mutex.unlock();
    return false;
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
