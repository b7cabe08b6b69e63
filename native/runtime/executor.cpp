#include "runtime/executor.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <ranges>
#include <system_error>
#include <thread>

#include "core/made_once.h"
#include "runtime/completion.h"
#include "runtime/thread_pool.h"

namespace avida {
namespace {

// Counts a thread that waits for a result.
struct WaitingThread {
  explicit WaitingThread(std::atomic<int>& count) : count(count) { count++; }
  ~WaitingThread() { count--; }
  std::atomic<int>& count;
};

// A spin-wait hint for the CPU.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// For an error whose description raises an error itself.
std::shared_ptr<const Failure> undescribed_failure() {
  return std::make_shared<const Failure>(
      Failure{ErrorKind::runtime, "an operator failed, and describing its error failed too", {}});
}

std::shared_ptr<const Failure> shutdown_failure() {
  return std::make_shared<const Failure>(
      Failure{ErrorKind::runtime, "the interpreter is shutting down; this value was never computed", {}});
}

thread_local Executor* executor_of_thread = nullptr;
std::atomic<int> spinning{0};                      // threads of executors that spin
constexpr std::chrono::microseconds kPrompt{200};  // from the first task to a wait, if that comes promptly
constexpr std::chrono::milliseconds kLong{100};    // for a thread that runs tasks and answers no interrupt
constexpr int kShortRuns = 16;                     // after a long one, until a waiting thread runs tasks again

// The stack of tasks that this thread is running: a task may run other tasks whose values it reads.
struct Running {
  explicit Running(const Task& task) : task(&task) { innermost = this; }
  ~Running() { innermost = outer; }
  static bool includes(const Task* task) {
    for (Running* at = innermost; at; at = at->outer)
      if (at->task == task) return true;
    return false;
  }
  const Task* task;
  Running* outer = innermost;
  static thread_local Running* innermost;
};
thread_local Running* Running::innermost = nullptr;

using Everyone = AllOf<Executor, ForkAware::Rank::executor>;

[[maybe_unused]] const bool made_at_load = (Completion::instance(), Everyone::instance(), true);

}  // namespace

std::shared_ptr<Executor> Executor::create() {
  std::shared_ptr<Executor> executor(new Executor);
  Everyone::instance().add(executor);
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

void Executor::submit(const std::shared_ptr<Task>& task) { submit(task, true); }

void Executor::submit(const std::shared_ptr<Task>& task, bool wake) {
  if (!task->executor_) task->executor_ = shared_from_this();
  // Depth first, without recursion, since a chain of deferred tasks may be long.
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
      current->executor_->enqueue(current, wake || current->executor_.get() != this);
      path.pop_back();
    }
  }
}

void Executor::enqueue(const std::shared_ptr<Task>& task, bool wake) {
  bool stopped;
  {
    std::lock_guard lock(mutex_);
    if (task->submitted_) return;
    stopped = stop_;
    wake &= !busy_;  // who is busy looks again
    if (!stopped) {
      if (expects_first_ || expects_followers_) newest_ = Clock::now();
      if (expects_first_) first_ = newest_;
      expects_first_ = false;
      queue_.push_back(task);
      submitted_++;
      try {
        if (wake) ensure_thread();
      } catch (const Error&) {
        queue_.pop_back();
        submitted_--;
        throw;
      }
    }
    task->submitted_ = true;  // last: a thread that sees it relies on the task being in the queue
  }
  if (stopped)
    publish(*task, {}, shutdown_failure(), nullptr);
  else if (wake)
    work_.notify_one();
}

void Executor::submit_ahead(std::span<const std::shared_ptr<Task>> tasks, const std::shared_ptr<Executor>& executor) {
  {
    std::lock_guard lock(executor->mutex_);
    for (auto& task : tasks) task->executor_ = executor;
    if (executor->stop_) return;
    for (auto& task : tasks) {
      task->submitted_ = task->ahead_ = task->has_followers_ = true;
      executor->ahead_.push_back(task);
    }
    executor->submitted_ += tasks.size();
    try {
      executor->ensure_thread();
    } catch (const Error&) {  // a call of the user will tell
    }
  }
  executor->work_.notify_one();
}

bool Executor::computed_elsewhere(Value& value, const Executor& here) {
  auto producer = producer_of(value);
  return producer && producer->executor_.get() != &here;
}

void Executor::drop_if_dead(const std::shared_ptr<Task>& task) {
  if (!task->submitted_ || task->finished_ || !task->executor_ || !task->pure()) return;
  if (!std::ranges::all_of(task->outputs_, [](auto& output) { return output.expired(); })) return;
  Executor& executor = *task->executor_;
  std::unique_lock lock(executor.mutex_);
  const std::shared_ptr<Task> taken = executor.take_from_queue(task.get());
  lock.unlock();
  if (taken) publish(*taken, {}, nullptr, &executor.finished_);
}

void Executor::promote(Task& task) {
  if (!task.ahead_) return;
  Executor& executor = *task.executor_;
  {
    std::lock_guard lock(executor.mutex_);
    task.ahead_ = false;
    auto at = std::ranges::find(executor.ahead_, &task, &std::shared_ptr<Task>::get);
    if (at == executor.ahead_.end()) return;
    executor.queue_.push_back(std::move(*at));
    executor.ahead_.erase(at);
    executor.ensure_thread();
  }
  executor.work_.notify_one();
}

void Executor::ensure_thread() {
  if (thread_ || stop_ || (queue_.empty() && ahead_.empty())) return;
  try {
    std::thread([self = shared_from_this()] {
      pthread_setname_np(pthread_self(), "avida-executor");  // not that of the thread that starts it
      self->loop();
    }).detach();
  } catch (const std::system_error& error) {
    refuse("cannot start the thread of the executor: ", error.what());
  }
  thread_ = true;
}

bool Executor::on_own_thread() { return executor_of_thread != nullptr; }

// The task, if it was in the queue. Needs the lock.
std::shared_ptr<Task> Executor::take_from_queue(const Task* task) {
  for (auto* queue : {&queue_, &ahead_}) {
    // From the end, where what is dropped again mostly is.
    auto at = std::ranges::find(queue->rbegin(), queue->rend(), task, &std::shared_ptr<Task>::get);
    if (at == queue->rend()) continue;
    std::shared_ptr<Task> taken = std::move(*at);
    queue->erase(std::next(at).base());
    return taken;
  }
  return nullptr;
}

// Runs the task if it is in the queue; returns whether it was.
bool Executor::run_from_queue(const Task* task, const Interrupt& interrupt) {
  std::unique_lock lock(mutex_);
  std::shared_ptr<Task> taken = take_from_queue(task);
  if (!taken) return false;
  nested_.push_back(taken);
  lock.unlock();
  try {
    for (auto& input : taken->inputs)
      if (input->pending()) wait(*input, interrupt);
    execute(*taken, &finished_);
  } catch (...) {
    lock.lock();
    nested_.pop_back();
    const bool stopped = stop_;
    if (!stopped) queue_.push_front(taken);
    lock.unlock();
    if (stopped) publish(*taken, {}, shutdown_failure(), &finished_);
    throw;
  }
  lock.lock();
  nested_.pop_back();
  lock.unlock();  // before the task ends, with what it holds
  return true;
}

void Executor::run_here(const std::shared_ptr<Task>& task, const Interrupt& interrupt) {
  task->submitted_ = true;
  for (auto& input : task->inputs)
    if (input->pending()) wait(*input, interrupt);
  execute(*task, nullptr);
}

void Executor::run_at_once(const std::shared_ptr<Task>& task, const Interrupt& interrupt) {
  if (task->pure()) return run_here(task, interrupt);
  submit(task);
  finish(task, interrupt);
}

void Executor::wait(Value& value, const Interrupt& interrupt) {
  if (value.read_by_others_) *value.read_by_others_ = true;
  auto producer = producer_of(value);
  if (producer && Running::includes(producer.get()))
    refuse("deadlock: an operator reads a value that is computed from its own result");
  auto executor = producer ? producer->executor_ : nullptr;
  const std::function<bool()> done = [&] { return !value.pending(); };
  if (!executor) return Completion::instance().wait(done, interrupt);
  executor->submit(producer, false);  // this thread runs it, or wakes the executor's
  if (executor.get() == executor_of_thread && executor->run_from_queue(producer.get(), interrupt)) return;
  executor->wait_for_work(done, interrupt);
}

profile::Event Executor::waiting_for(Value& value) {
  profile::Event event{.kind = profile::Kind::wait};
  if (auto producer = producer_of(value)) {
    event.label = producer->label();
    event.queue = producer->executor_.get();
  }
  event.nested = on_own_thread();
  return event;
}

void Executor::wait_for_work(const std::function<bool()>& done, const Interrupt& interrupt) {
  Executor* self = executor_of_thread;
  auto& completion = Completion::instance();
  bool circle = false;
  if (self)
    completion.publish([&] {
      for (Executor* at = this; at && !circle; at = at->waits_for_ && !(*at->waits_until_)() ? at->waits_for_ : nullptr)
        circle = at == self && !done();
      if (circle) return;
      self->waits_for_ = this;
      self->waits_until_ = &done;
    });
  if (circle)
    refuse(
        "deadlock: operators of several EvalContexts wait for one another; this one reads a value of an EvalContext "
        "whose running operator waits for this one, or for a later call of its EvalContext");
  struct Leave {
    Executor* self;
    ~Leave() {
      if (self) Completion::instance().publish([&] { self->waits_for_ = nullptr; });
    }
  } leave{self};
  run_while_waiting(done);
  if (done()) return;
  WaitingThread waiting(readers_);
  {
    std::lock_guard lock(mutex_);
    ensure_thread();  // in a child process it may not have been started yet
    wanted_.notify_one();
  }
  completion.wait(done, interrupt);
}

// Whether there is work, nobody is doing it, and a waiting thread may do it: it cannot answer an interrupt meanwhile.
bool Executor::may_run_while_waiting() {
  if (busy_ || stop_ || after_long_ > 0 || queue_.empty()) return false;
  const Task& next = *queue_.front();
  return next.runs_anywhere() && std::ranges::none_of(next.inputs, [](auto& input) { return input->pending(); });
}

// Runs queued tasks on a thread that waits for one of them. That saves waking another thread and being woken by it.
// Long work is left to the thread of the executor, so that this one can answer interrupts.
void Executor::run_while_waiting(const std::function<bool()>& done) {
  std::unique_lock lock(mutex_);
  const auto begin = Clock::now();
  if (!expects_first_)
    prompt_ = begin - first_ < kPrompt && (busy_ ? running_.back()->runs_anywhere() : may_run_while_waiting());
  expects_first_ = true;
  for (auto at = begin; at - begin < kLong && may_run_while_waiting() && !done();) {
    run_next(lock);
    const auto now = Clock::now();
    if (now - at > kLong) after_long_ = kShortRuns;
    at = now;
  }
  if (busy_ || (queue_.empty() && ahead_.empty() && !close_)) return;
  ensure_thread();
  work_.notify_one();
}

void Executor::drain(const Interrupt& interrupt) {
  std::vector<std::shared_ptr<Task>> tasks;
  {
    std::lock_guard lock(mutex_);
    for (auto& task : running_)
      if (!task->ahead_) tasks.push_back(task);
    tasks.insert(tasks.end(), queue_.begin(), queue_.end());
  }
  auto finished = [](auto& task) { return task->finished_.load(); };
  // From the last, which mostly finishes last: the answer is asked for whenever a task has finished.
  wait_for_work([&] { return std::ranges::all_of(std::views::reverse(tasks), finished); }, interrupt);
}

// Waits until a submitted task has run.
void Executor::finish(const std::shared_ptr<Task>& task, const Interrupt& interrupt) {
  Executor& executor = *task->executor_;
  if (&executor == executor_of_thread && executor.run_from_queue(task.get(), interrupt)) return;
  executor.wait_for_work([&] { return task->finished_.load(); }, interrupt);
}

// Tasks of all executors that read this memory, or will do so, except those that wait to run ahead of a loop: these are
// given up.
std::vector<std::shared_ptr<Task>> Executor::tasks_reading(const Data& memory) {
  std::vector<std::shared_ptr<Task>> all, found;  // `all` is released outside the locks
  for (auto& executor : Everyone::instance().alive()) {
    std::lock_guard lock(executor->mutex_);
    for (auto* tasks : {&executor->running_, &executor->nested_}) all.insert(all.end(), tasks->begin(), tasks->end());
    all.insert(all.end(), executor->queue_.begin(), executor->queue_.end());
    for (auto& deferred : executor->deferred_)
      if (auto task = deferred.lock()) all.push_back(std::move(task));
  }
  for (auto& task : all)
    if (!task->finished_ && task->reads(memory)) found.push_back(task);
  return found;
}

bool Executor::is_read(const Data& memory) { return !left_out_of(memory).empty() || !tasks_reading(memory).empty(); }

void Executor::finish_reading(const Data& memory, const Interrupt& interrupt) {
  for (auto& value : left_out_of(memory)) wait(*value, interrupt);
  if (on_own_thread()) return;
  // Again, since results may share the memory, and be read in turn.
  for (auto tasks = tasks_reading(memory); !tasks.empty(); tasks = tasks_reading(memory))
    for (auto& task : tasks) {
      task->executor_->submit(task);
      finish(task, interrupt);
    }
}

void Executor::close() {
  std::lock_guard lock(mutex_);
  close_ = true;
  work_.notify_all();
  wanted_.notify_all();
}

void Executor::stop_all(std::chrono::steady_clock::time_point latest, const Interrupt& interrupt) {
  auto executors = Everyone::instance().alive();
  for (auto& executor : executors) {
    std::deque<std::shared_ptr<Task>> dropped;
    {
      std::lock_guard lock(executor->mutex_);
      executor->stop_ = true;
      dropped.swap(executor->queue_);
      dropped.insert(dropped.end(), executor->ahead_.begin(), executor->ahead_.end());
      executor->ahead_.clear();
      executor->work_.notify_all();
      executor->wanted_.notify_all();
    }
    // Immediately, since a running task may wait for one of them.
    for (auto& task : dropped) publish(*task, {}, shutdown_failure(), &executor->finished_);
  }
  for (auto& executor : executors) executor->join(latest, interrupt);
}

void Executor::join(std::chrono::steady_clock::time_point latest, const Interrupt& interrupt) {
  std::unique_lock lock(mutex_);
  while ((thread_ || busy_) && Clock::now() < latest) {
    if (ended_.wait_for(lock, kBetweenInterrupts) == std::cv_status::no_timeout) continue;
    lock.unlock();
    interrupt();
    lock.lock();
  }
}

// The next call of a loop arrives within microseconds; sleeping and waking up takes longer. But where many executors
// share few cores, spinning takes these from the work.
void Executor::spin_until_submitted() {
  static constinit std::atomic<int> most{0};
  if (most == 0) most = std::max(1, available_cpus() / 2);
  uint64_t seen = finished_;
  if (spinning++ < most)
    for (int i = 0; i < 400 && submitted_ == seen; i++)
      for (int pause = 0; pause < 8; pause++) relax();
  spinning--;
}

// A thread waits for a result or runs the tasks itself, or the executor is to end.
bool Executor::wanted_now() const { return busy_ || readers_ > 0 || stop_ || close_; }

void Executor::loop() {
  executor_of_thread = this;
  std::unique_lock lock(mutex_);
  auto nothing = [this] { return queue_.empty() && ahead_.empty(); };
  auto idle = [&] { return (busy_ || nothing()) && !stop_ && !(close_ && queue_.empty()); };
  while (true) {
    while (idle()) work_.wait(lock);
    if (close_ && !ahead_.empty()) {
      auto dropped = std::move(ahead_);
      ahead_.clear();
      lock.unlock();
      dropped.clear();  // frees what they hold, outside the lock
      lock.lock();
      continue;
    }
    if (stop_ || nothing()) break;
    if (!queue_.empty()) {
      const Task& first = *queue_.front();
      if (first.chain() == Task::Chain::leads && !first.has_followers_)
        wait_for_followers(lock);
      else if (prompt_ && may_run_while_waiting())
        prompt_ = wanted_.wait_until(lock, first_ + kPrompt, [this] { return wanted_now(); });
    }
    if (busy_ || nothing() || stop_) continue;
    const auto begin = after_long_ > 0 ? Clock::now() : Clock::time_point();
    run_next(lock);
    if (after_long_ > 0) after_long_ = Clock::now() - begin > kLong ? kShortRuns : after_long_ - 1;
    if (idle() && !prompt_) {
      lock.unlock();
      spin_until_submitted();
      lock.lock();
    }
  }
  thread_ = false;
  ended_.notify_all();
}

// Takes the next tasks from the queue and runs them on this thread, without the lock.
void Executor::run_next(std::unique_lock<std::mutex>& lock) {
  take_next();
  busy_ = true;
  lock.unlock();
  std::span<const std::shared_ptr<Task>> running = running_, chain = running.last(chained_);
  for (auto& task : running.first(running.size() - chained_)) execute(*task, &finished_);
  execute_chain(chain, &finished_);
  lock.lock();
  auto done = std::move(running_);
  running_.clear();
  busy_ = false;
  if (stop_) ended_.notify_all();
  lock.unlock();
  done.clear();  // frees the inputs, outside the lock
  lock.lock();
}

void Executor::record(profile::Work& work, std::span<Task* const> tasks) {
  std::vector<profile::Work::Task> described;
  for (Task* task : tasks) described.push_back({task->label(), task->ahead_});
  work.begin(std::move(described), tasks[0]->executor_.get());
}

void Executor::execute(Task& task, std::atomic<uint64_t>* finished) {
  Running running(task);
  std::vector<Data> results;
  profile::Work work;
  std::shared_ptr<const Failure> failure;
  bool wanted = !task.pure();
  for (auto& output : task.outputs_) wanted |= !output.expired();
  try {
    if (wanted) {
      for (auto& input : task.inputs) input->get();
      // No loop takes what was made of memory that others had, and they may be writing to it. In this order: memory may
      // be handed out right after the loop has asked for the task.
      if (task.reads_exposed() && task.ahead_) refuse("a call ahead of its loop was given up");
      if (profile::on()) record(work, std::array{&task});
      results = task.run();
      work.made(results);
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
  work.end();  // before anybody who waits for the results can close the profile
  publish(task, std::move(results), std::move(failure), finished);
}

void Executor::publish(Task& task, std::vector<Data> results, std::shared_ptr<const Failure> failure,
                       std::atomic<uint64_t>* finished) {
  std::byte buffer[512];
  std::pmr::monotonic_buffer_resource memory(buffer, sizeof(buffer));
  std::pmr::vector<ValuePtr> values(&memory);
  std::pmr::vector<std::shared_ptr<Task>> producers(&memory);  // released outside the lock
  for (auto& output : task.outputs_) values.push_back(output.lock());
  producers.reserve(values.size());
  Completion::instance().publish([&] {
    if (finished) ++*finished;
    task.finished_ = true;
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

bool Executor::try_before_fork() { return mutex_.try_lock(); }

void Executor::after_fork(bool in_child) {
  if (in_child) {
    spinning = 0;
    for (auto* condition : {&work_, &wanted_, &ended_}) new (condition) std::condition_variable;
    thread_ = busy_ = expects_followers_ = false;
    readers_ = 0;
    waits_for_ = nullptr;
    for (auto* tasks : {&nested_, &running_})
      for (auto task = tasks->rbegin(); task != tasks->rend(); ++task) {
        bool unfinished = false;
        for (auto& output : (*task)->outputs_)
          if (auto value = output.lock()) unfinished |= value->pending();
        if (unfinished) queue_.push_front(*task);
      }
    new (&nested_) std::vector<std::shared_ptr<Task>>;
    finished_ = submitted_ - queue_.size() - ahead_.size();
    new (&running_) std::vector<std::shared_ptr<Task>>;  // destroying them could free memory, whose lock is held
  }
  mutex_.unlock();
}

}  // namespace avida
