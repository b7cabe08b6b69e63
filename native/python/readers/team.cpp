#include "python/readers/team.h"

#include <chrono>

#include "python/feed.h"
#include "readers/source.h"

namespace avida::python {

void Team::Work::take_part() {
  for (size_t i = next++; i < made.size(); i = next++) {
    try {
      made[i] = read(i);
    } catch (...) {
      errors[i] = std::current_exception();
      close();  // all parts before this one have begun
    }
  }
}

Team::~Team() {
  std::lock_guard lock(shared_->mutex);
  shared_->stopped = true;
  shared_->changed.notify_all();
}

void Team::run(const std::shared_ptr<Work>& work, const std::atomic<bool>* stop) {
  const int wanted = std::min(helpers_, static_cast<int>(work->made.size()) - 1);
  for (; started_ < wanted; started_++) start_python_thread([shared = shared_] { help(*shared); });
  {
    std::lock_guard lock(shared_->mutex);
    shared_->work = work;
    shared_->changed.notify_all();
  }
  work->take_part();
  struct Leaving {
    Shared& shared;
    std::shared_ptr<Work> work;
    ~Leaving() {
      work->close();
      std::lock_guard lock(shared.mutex);
      if (shared.work == work) shared.work = nullptr;
    }
  } leaving{*shared_, work};
  WithoutGil released;
  std::unique_lock lock(shared_->mutex);
  while (work->inside > 0) {
    if (shared_->changed.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::no_timeout) continue;
    lock.unlock();
    if (stop && *stop) throw Stopped();
    answer_signals()();
    lock.lock();
  }
}

void Team::help(Shared& shared) {
  while (true) {
    std::shared_ptr<Work> work;
    {
      WithoutGil released;
      std::unique_lock lock(shared.mutex);
      shared.changed.wait(lock, [&] { return shared.stopped || (shared.work && shared.work->is_open()); });
      if (shared.stopped) return;
      work = shared.work;
      work->inside++;
    }
    work->take_part();
    std::lock_guard lock(shared.mutex);
    work->inside--;
    shared.changed.notify_all();
  }
}

}  // namespace avida::python
