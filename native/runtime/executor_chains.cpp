// How an Executor runs tasks as a chain, so that less needs to be computed.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "core/made_once.h"
#include "runtime/completion.h"
#include "runtime/executor.h"

namespace avida {
namespace {

std::atomic<uint64_t> chained_tasks_total{0};
constexpr std::chrono::milliseconds kPatience{2};             // without another submission, until a chain starts
constexpr size_t kLongestChain = 16, kFarthestFollower = 64;  // in the queue

// Tasks whose values a chain did not compute as a whole.
class Incomplete {
 public:
  void add(const std::shared_ptr<Task>& task) {
    std::lock_guard lock(mutex_);
    std::erase_if(list_, [](auto& weak) { return weak.expired(); });
    list_.push_back(task);
    any_ = true;
  }
  std::vector<std::shared_ptr<Task>> alive() {
    std::vector<std::shared_ptr<Task>> out;
    std::lock_guard lock(mutex_);
    std::erase_if(list_, [](auto& weak) { return weak.expired(); });
    for (auto& weak : list_)
      if (auto task = weak.lock()) out.push_back(std::move(task));
    any_ = !list_.empty();
    return out;
  }
  bool any() const { return any_; }
  static Incomplete& instance() {
    static constinit MadeOnce<Incomplete> incomplete;
    return incomplete.get();
  }

 private:
  ForkSafe<> mutex_{ForkAware::Rank::executor};
  std::vector<std::weak_ptr<Task>> list_;
  std::atomic<bool> any_{false};
};

[[maybe_unused]] const bool made_at_load = (Incomplete::instance(), true);

}  // namespace

// Waits for the calls that may join a chain: until nothing was submitted for kPatience, and for 5 * kPatience at most.
// The wait ends at once when a thread waits for a result.
void Executor::wait_for_followers(std::unique_lock<std::mutex>& lock) {
  newest_ = Clock::now();
  const auto latest = newest_ + 5 * kPatience;
  expects_followers_ = true;
  for (auto until = newest_; until < latest && until < newest_ + kPatience;) {
    until = std::min(newest_ + kPatience, latest);
    if (wanted_.wait_until(lock, until, [this] { return wanted_now(); })) break;
  }
  expects_followers_ = false;
}

// Moves the first task from the queue, or of the work ahead if the queue is empty, to running_, together with the tasks
// that form a chain with it, and before them the tasks that compute their arguments.
void Executor::take_next() {
  // Without holding the output: its end takes this executor's lock.
  auto makes = [](const Task& task, const ValuePtr& value) {
    return std::ranges::any_of(
        task.outputs_, [&](auto& output) { return !output.owner_before(value) && !value.owner_before(output); });
  };
  auto ready = [](const Task& task) {
    return std::none_of(task.inputs.begin(), task.inputs.end(), [](auto& input) { return input->pending(); });
  };
  auto waiting = [this](size_t i) -> const std::shared_ptr<Task>& {
    return i < queue_.size() ? queue_[i] : ahead_[i - queue_.size()];
  };
  std::vector<std::shared_ptr<Task>> chain{waiting(0)};
  std::vector<std::shared_ptr<Task>> between, makers;  // tasks that may run before the chain; tasks that must
  auto made_before = [&](const ValuePtr& value) {
    if (!value->pending()) return true;
    for (auto& task : between)
      if (makes(*task, value)) return true;
    return false;
  };
  if (chain[0]->chain() == Task::Chain::leads)
    for (size_t i = 1; i < std::min(queue_.size() + ahead_.size(), kFarthestFollower) && chain.size() < kLongestChain;
         i++) {
      auto& task = waiting(i);
      bool links = task->chain() == Task::Chain::joins && chain.back()->outputs_.size() == 1 &&
                   makes(*chain.back(), task->inputs[0]) &&
                   std::all_of(task->inputs.begin() + 1, task->inputs.end(), made_before);
      if (links) {
        for (auto& maker : between)
          for (size_t k = 1; k < task->inputs.size(); k++)
            if (makes(*maker, task->inputs[k]) && std::find(makers.begin(), makers.end(), maker) == makers.end())
              makers.push_back(maker);
        chain.push_back(task);
      } else if (task->pure() && ready(*task)) {
        between.push_back(task);
      } else {
        break;
      }
    }
  running_ = std::move(makers);
  chained_ = chain.size();
  running_.insert(running_.end(), chain.begin(), chain.end());
  for (auto* queue : {&queue_, &ahead_})
    std::erase_if(*queue,
                  [&](auto& task) { return std::find(running_.begin(), running_.end(), task) != running_.end(); });
}

uint64_t Executor::chained_tasks() { return chained_tasks_total; }

void Executor::execute_chain(std::span<const std::shared_ptr<Task>> chain, std::atomic<uint64_t>* finished) {
  size_t wanted = chain.size();
  auto unwanted = [](Task& task) {
    for (auto& output : task.outputs_)
      if (!output.expired()) return false;
    return true;
  };
  while (wanted > 1 && unwanted(*chain[wanted - 1])) wanted--;
  if (wanted > 1 && try_chain(chain.first(wanted), finished)) chain = chain.subspan(wanted);
  for (auto& task : chain) execute(*task, finished);
}

// Runs all tasks or none. After a failure they are run one by one, which attributes the error to the right task.
bool Executor::try_chain(std::span<const std::shared_ptr<Task>> chain, std::atomic<uint64_t>* finished) {
  std::vector<Data> results;
  profile::Work work;
  bool kept[kLongestChain];
  try {
    std::vector<Task*> tasks;
    for (size_t k = 0; k < chain.size(); k++) {
      tasks.push_back(chain[k].get());
      for (size_t i = k == 0 ? 0 : 1; i < chain[k]->inputs.size(); i++) chain[k]->inputs[i]->get();
      if (chain[k]->reads_exposed() && chain[k]->ahead_) return false;  // each is given up by itself
      kept[k] = true;
      if (k + 1 == chain.size()) break;
      const ValuePtr& link = chain[k + 1]->inputs[0];
      kept[k] = link->read_by_others_ ? link->read_by_others_->load() : link.use_count() > 1;
    }
    if (profile::on()) record(work, tasks);
    results = chain[0]->run_chain(tasks, {kept, chain.size()});
    work.made(results);
  } catch (...) {
    return false;
  }
  if (results.empty()) work.cancel();
  work.end();
  if (results.empty()) return false;
  chained_tasks_total += chain.size();
  // From last to first: a forked child must not find a finished first task before an unfinished last one.
  for (size_t k = chain.size(); k-- > 0;) {
    if (ValuePtr value = chain[k]->outputs_[0].lock();
        value && k + 1 < chain.size() && !kept[k] && value->read_by_others_) {
      leave_deferred(*chain[k], value, finished);
      continue;
    }
    std::vector<Data> one;
    one.push_back(std::move(results[k]));
    publish(*chain[k], std::move(one), nullptr, finished);
  }
  return true;
}

// The value was not needed as a whole. Whoever reads it has its task run again, as that of a deferred value.
void Executor::leave_deferred(Task& task, const ValuePtr& value, std::atomic<uint64_t>* finished) {
  Completion::instance().publish([&] {
    ++*finished;
    task.finished_ = true;
    task.ahead_ = task.submitted_ = false;
    value->deferred_ = true;
  });
  Incomplete::instance().add(task.shared_from_this());
  // A thread may wait for it that took it for submitted, and others may be about to write to its input.
  if (*value->read_by_others_ || task.reads_exposed()) task.executor_->submit(task.shared_from_this());
}

// Values that are computed from this memory, of which a chain has left something out.
std::vector<ValuePtr> Executor::left_out_of(const Data& memory) {
  std::vector<ValuePtr> values;
  if (!Incomplete::instance().any()) return values;
  for (auto& task : Incomplete::instance().alive())
    if (ValuePtr value = task->outputs_[0].lock(); value && value->pending() && task->reads(memory))
      values.push_back(std::move(value));
  return values;
}

}  // namespace avida
