#include "runtime/executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>

namespace avida {
namespace {

// Guards the moment a value becomes ready and wakes whoever waits for it; one for the process, since few threads wait.
class Completion : ForkAware {
 public:
  template <class Fn>
  void publish(Fn&& fn) {
    bool wake;
    {
      std::lock_guard lock(mutex_);
      fn();
      wake = waiters_ > 0;
    }
    if (wake) changed_.notify_all();
  }

  template <class Done>
  void wait(Done&& done, const Interrupt& interrupt) {
    std::unique_lock lock(mutex_);
    waiters_++;
    struct Leave {
      int& waiters;
      ~Leave() { waiters--; }
    } leave{waiters_};  // runs before the lock goes: the mutex is held whenever this scope is left
    while (!done()) {
      if (!interrupt) {
        changed_.wait(lock);
      } else if (changed_.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::timeout) {
        lock.unlock();
        struct Relock {
          std::unique_lock<std::mutex>& lock;
          ~Relock() { lock.lock(); }
        } relock{lock};
        interrupt();
      }
    }
  }

  static Completion& instance() {
    static Completion* completion = new Completion;
    return *completion;
  }

 private:
  void before_fork() override { mutex_.lock(); }
  void after_fork(bool in_child) override {
    if (in_child) {
      new (&changed_) std::condition_variable;
      waiters_ = 0;
    }
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int waiters_ = 0;
  ForkRegistration fork_{this, Rank::completion};
};

// A thread that waits for a result.
struct Reader {
  explicit Reader(std::atomic<int>& count) : readers(count) { readers++; }
  ~Reader() { readers--; }
  std::atomic<int>& readers;
};

// Tells the CPU that this is a waiting loop.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// For an error whose description fails in turn.
std::shared_ptr<const Failure> undescribed_failure() {
  static auto* failure = new auto(std::make_shared<const Failure>(
      Failure{ErrorKind::runtime, "an operator failed, and its error cannot be told", {}}));
  return *failure;
}

std::shared_ptr<const Failure> shutdown_failure() {
  return std::make_shared<const Failure>(
      Failure{ErrorKind::runtime, "the interpreter is shutting down; this value was never computed", {}});
}

thread_local Executor* executor_of_thread = nullptr;
std::atomic<uint64_t> chained_tasks_total{0};
constexpr std::chrono::milliseconds kPatience{2};
constexpr size_t kLongestChain = 16, kFarthestFollower = 64;  // in the queue

struct Everyone {
  std::mutex mutex;
  std::vector<std::weak_ptr<Executor>> list;
  static Everyone& instance() {
    static Everyone* everyone = new Everyone;
    return *everyone;
  }
};

}  // namespace

std::shared_ptr<Executor> Executor::create() {
  std::shared_ptr<Executor> executor(new Executor);
  auto& everyone = Everyone::instance();
  std::lock_guard lock(everyone.mutex);
  std::erase_if(everyone.list, [](auto& weak) { return weak.expired(); });
  everyone.list.push_back(executor);
  return executor;
}

void Executor::defer(const std::shared_ptr<Task>& task) {
  task->executor_ = shared_from_this();
  for (auto& output : task->outputs_)
    if (auto value = output.lock()) value->deferred_ = true;
  std::lock_guard lock(mutex_);
  if (deferred_.size() >= prune_at_) {
    std::erase_if(deferred_, [](auto& weak) { return weak.expired(); });
    prune_at_ = 64 + 2 * deferred_.size();
  }
  deferred_.push_back(task);
}

void Executor::submit_deferred() {
  std::vector<std::weak_ptr<Task>> deferred;
  {
    std::lock_guard lock(mutex_);
    deferred.swap(deferred_);
  }
  for (auto& weak : deferred)
    if (auto task = weak.lock()) submit(task);
}

std::shared_ptr<Task> Executor::producer_of(Value& value) {
  std::shared_ptr<Task> producer;
  Completion::instance().publish([&] { producer = value.producer_; });
  return producer;
}

void Executor::submit(const std::shared_ptr<Task>& task) {
  if (!task->executor_) task->executor_ = shared_from_this();
  // Depth first without recursion, for a chain of deferred tasks may be long.
  std::vector<std::pair<std::shared_ptr<Task>, size_t>> path{{task, 0}};
  while (!path.empty()) {
    auto& [current, next_input] = path.back();
    std::shared_ptr<Task> deferred;
    while (next_input < current->inputs.size() && !deferred) {
      Value& input = *current->inputs[next_input++];
      if (!input.deferred_ || !input.pending()) continue;
      deferred = producer_of(input);
      if (deferred && deferred->submitted_) deferred.reset();
    }
    if (deferred) {
      path.emplace_back(std::move(deferred), 0);
    } else {
      current->executor_->enqueue(current);
      path.pop_back();
    }
  }
}

void Executor::enqueue(const std::shared_ptr<Task>& task) {
  bool stopped;
  {
    std::lock_guard lock(mutex_);
    if (task->submitted_) return;
    stopped = stop_;
    if (!stopped) {
      queue_.push_back(task);
      submitted_++;
      try {
        ensure_thread();
      } catch (const std::system_error& error) {
        queue_.pop_back();
        submitted_--;
        fail(ErrorKind::runtime, "the system allows no thread for the executor: ", error.what());
      }
    }
    task->submitted_ = true;  // last: who sees it counts on the task being ahead in the queue
  }
  if (stopped)
    publish(*task, {}, shutdown_failure(), nullptr);
  else
    work_.notify_one();
}

void Executor::ensure_thread() {
  if (thread_ || stop_ || queue_.empty()) return;
  std::thread([self = shared_from_this()] { self->loop(); }).detach();
  thread_ = true;
}

bool Executor::on_own_thread() { return executor_of_thread != nullptr; }

std::shared_ptr<Task> Executor::take_from_queue(const Task* task) {
  std::lock_guard lock(mutex_);
  for (auto at = queue_.begin(); at != queue_.end(); ++at)
    if (at->get() == task) {
      auto taken = std::move(*at);
      queue_.erase(at);
      return taken;
    }
  return nullptr;
}

void Executor::run_here(const std::shared_ptr<Task>& task, const Interrupt& interrupt) {
  task->submitted_ = true;
  for (auto& input : task->inputs)
    if (input->pending()) wait(*input, interrupt);
  execute(*task, nullptr);
}

void Executor::wait(Value& value, const Interrupt& interrupt) {
  if (auto producer = producer_of(value)) {
    auto executor = producer->executor_;
    if (executor) executor->submit(producer);
    if (executor && executor.get() == executor_of_thread) {
      if (auto task = executor->take_from_queue(producer.get())) {
        for (auto& input : task->inputs)
          if (input->pending()) wait(*input, interrupt);
        execute(*task, &executor->finished_);
      }
    } else if (executor) {
      Reader reader(executor->readers_);
      {
        std::lock_guard lock(executor->mutex_);
        executor->ensure_thread();  // in a child process it may be yet to start
      }
      executor->work_.notify_one();
      return Completion::instance().wait([&] { return !value.pending(); }, interrupt);
    }
  }
  Completion::instance().wait([&] { return !value.pending(); }, interrupt);
}

void Executor::drain(const Interrupt& interrupt) {
  uint64_t target;
  Reader reader(readers_);
  {
    std::lock_guard lock(mutex_);
    target = submitted_;
    ensure_thread();
  }
  work_.notify_one();
  Completion::instance().wait([&] { return finished_ >= target; }, interrupt);
}

void Executor::close() {
  std::lock_guard lock(mutex_);
  close_ = true;
  work_.notify_all();
}

void Executor::stop_all() {
  std::vector<std::shared_ptr<Executor>> executors;
  {
    auto& everyone = Everyone::instance();
    std::lock_guard lock(everyone.mutex);
    for (auto& weak : everyone.list)
      if (auto executor = weak.lock()) executors.push_back(executor);
  }
  for (auto& executor : executors) {
    std::deque<std::shared_ptr<Task>> dropped;
    std::unique_lock lock(executor->mutex_);
    executor->stop_ = true;
    dropped.swap(executor->queue_);
    executor->work_.notify_all();
    executor->ended_.wait(lock, [&] { return !executor->thread_; });
    lock.unlock();
    for (auto& task : dropped) publish(*task, {}, shutdown_failure(), &executor->finished_);
  }
}

// The next call of a loop comes within microseconds; going to sleep and being woken takes longer.
void Executor::spin_until_submitted() {
  uint64_t seen = finished_;
  for (int i = 0; i < 400 && submitted_ == seen; i++)
    for (int pause = 0; pause < 8; pause++) relax();
}

// What follows the first task of a chain comes within microseconds, or a little later on a busy machine. Whoever waits
// for a result wants it now.
void Executor::wait_for_followers(std::unique_lock<std::mutex>& lock) {
  const auto latest = std::chrono::steady_clock::now() + 4 * kPatience;
  uint64_t seen;
  auto go_on = [&] { return readers_ > 0 || stop_ || close_; };
  do {
    seen = submitted_;
    lock.unlock();
    for (int i = 0; i < 400 && submitted_ == seen && readers_ == 0; i++)
      for (int pause = 0; pause < 8; pause++) relax();
    lock.lock();
    work_.wait_for(lock, kPatience, [&] { return submitted_ != seen || go_on(); });
  } while (submitted_ != seen && !go_on() && std::chrono::steady_clock::now() < latest);
}

// Moves the first task from the queue to running_; with it those that form a chain, and before it those that make
// their arguments.
void Executor::take_next() {
  auto makes = [](const Task& task, const ValuePtr& value) {
    return std::any_of(task.outputs_.begin(), task.outputs_.end(),
                       [&](auto& output) { return output.lock() == value; });
  };
  auto ready = [](const Task& task) {
    return std::none_of(task.inputs.begin(), task.inputs.end(), [](auto& input) { return input->pending(); });
  };
  std::vector<std::shared_ptr<Task>> chain{queue_.front()};
  std::vector<std::shared_ptr<Task>> between, makers;  // tasks that could be run before the chain; those that must
  auto made_before = [&](const ValuePtr& value) {
    if (!value->pending()) return true;
    for (auto& task : between)
      if (makes(*task, value)) return true;
    return false;
  };
  if (chain[0]->chain() == Task::Chain::leads)
    for (size_t i = 1; i < std::min(queue_.size(), kFarthestFollower) && chain.size() < kLongestChain; i++) {
      auto& task = queue_[i];
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
  std::erase_if(queue_,
                [&](auto& task) { return std::find(running_.begin(), running_.end(), task) != running_.end(); });
}

void Executor::loop() {
  executor_of_thread = this;
  std::unique_lock lock(mutex_);
  while (true) {
    if (queue_.empty() && !stop_ && !close_) {
      lock.unlock();
      spin_until_submitted();
      lock.lock();
    }
    while (queue_.empty() && !stop_ && !close_) work_.wait(lock);
    if (stop_ || queue_.empty()) break;
    if (queue_.front()->chain() == Task::Chain::leads) wait_for_followers(lock);
    if (stop_) break;
    take_next();
    lock.unlock();
    std::span<const std::shared_ptr<Task>> running = running_, chain = running.last(chained_);
    for (auto& task : running.first(running.size() - chained_)) execute(*task, &finished_);
    execute_chain(chain, &finished_);
    lock.lock();
    auto done = std::move(running_);
    running_.clear();
    lock.unlock();
    done.clear();  // frees the inputs, outside the lock
    lock.lock();
  }
  thread_ = false;
  ended_.notify_all();
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

// Runs all or none of them. One by one they will tell best whose error it was.
bool Executor::try_chain(std::span<const std::shared_ptr<Task>> chain, std::atomic<uint64_t>* finished) {
  std::vector<Data> results;
  try {
    std::vector<Task*> tasks;
    bool kept[kLongestChain];
    for (size_t k = 0; k < chain.size(); k++) {
      tasks.push_back(chain[k].get());
      for (size_t i = k == 0 ? 0 : 1; i < chain[k]->inputs.size(); i++) chain[k]->inputs[i]->get();
      kept[k] = true;
      if (k + 1 == chain.size()) break;
      const ValuePtr& link = chain[k + 1]->inputs[0];
      kept[k] = link.use_count() > 1;
    }
    results = chain[0]->run_chain(tasks, {kept, chain.size()});
  } catch (...) {
    return false;
  }
  if (results.empty()) return false;
  chained_tasks_total += chain.size();
  // Last to first: a child process must not find an end without its beginning.
  for (size_t k = chain.size(); k-- > 0;) {
    std::vector<Data> one;
    one.push_back(std::move(results[k]));
    publish(*chain[k], std::move(one), nullptr, finished);
  }
  return true;
}

void Executor::execute(Task& task, std::atomic<uint64_t>* finished) {
  std::vector<Data> results;
  std::shared_ptr<const Failure> failure;
  bool wanted = !task.pure();
  for (auto& output : task.outputs_) wanted |= !output.expired();
  try {
    if (wanted) {
      for (auto& input : task.inputs) input->get();
      results = task.run();
    }
  } catch (const FailureError& error) {
    failure = error.failure;
  } catch (...) {
    try {
      failure = std::make_shared<Failure>(task.describe_failure(std::current_exception()));
    } catch (...) {
      failure = undescribed_failure();
    }
  }
  publish(task, std::move(results), std::move(failure), finished);
}

void Executor::publish(Task& task, std::vector<Data> results, std::shared_ptr<const Failure> failure,
                       std::atomic<uint64_t>* finished) {
  std::byte buffer[512];
  std::pmr::monotonic_buffer_resource memory(buffer, sizeof(buffer));
  std::pmr::vector<ValuePtr> values(&memory);
  std::pmr::vector<std::shared_ptr<Task>> producers(&memory);  // let go outside the lock
  for (auto& output : task.outputs_) values.push_back(output.lock());
  producers.reserve(values.size());
  Completion::instance().publish([&] {
    if (finished) ++*finished;
    for (size_t i = 0; i < values.size(); i++) {
      if (!values[i] || !values[i]->pending()) continue;
      Value& value = *values[i];
      if (failure)
        value.failure_ = failure;
      else
        value.data_ = std::move(results[i]);
      producers.push_back(std::move(value.producer_));
      value.state_.store(failure ? Value::State::failed : Value::State::ready, std::memory_order_release);
    }
  });
}

void Executor::before_fork() { mutex_.lock(); }

void Executor::after_fork(bool in_child) {
  if (in_child) {
    new (&work_) std::condition_variable;
    new (&ended_) std::condition_variable;
    thread_ = false;
    readers_ = 0;
    for (auto task = running_.rbegin(); task != running_.rend(); ++task) {
      bool unfinished = false;
      for (auto& output : (*task)->outputs_)
        if (auto value = output.lock()) unfinished |= value->pending();
      if (unfinished) queue_.push_front(*task);
    }
    finished_ = submitted_ - queue_.size();
    new (&running_) std::vector<std::shared_ptr<Task>>;  // letting go of them could free memory, whose lock is held
  }
  mutex_.unlock();
}

}  // namespace avida
