// Runs tasks in the order in which they were submitted, on its own thread or on one that waits for them.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "runtime/fork.h"
#include "runtime/value.h"

namespace avida {

// Called regularly while a thread waits; may throw to end the wait.
using Interrupt = std::function<void()>;

class Executor : public std::enable_shared_from_this<Executor>, ForkAware {
 public:
  static std::shared_ptr<Executor> create();

  // Keeps the task until one of its values is read.
  void defer(const std::shared_ptr<Task>& task);
  // Queues the task, after the deferred tasks that it depends on.
  void submit(const std::shared_ptr<Task>& task);
  // Queues tasks that nobody has asked for yet: they run when there is nothing else to do.
  static void submit_ahead(std::span<const std::shared_ptr<Task>> tasks, const std::shared_ptr<Executor>& executor);
  // Whether a pending value is to be computed by another executor than `here`.
  static bool computed_elsewhere(Value& value, const Executor& here);
  // Takes a task from the queue whose outputs nobody holds any more, with all that it holds.
  static void drop_if_dead(const std::shared_ptr<Task>& task);
  // A task that was submitted ahead is asked for now.
  static void promote(Task& task);
  // Whether some task still has to read this memory, or is to be left alone by those who write to it.
  static bool is_read(const Data& memory);
  // Runs the tasks that read this memory, deferred ones and what chains have left out included, before others write to
  // it. An operator of Python does not wait: what reads the memory may need its result.
  static void finish_reading(const Data& memory, const Interrupt& interrupt);
  // Runs the task on this thread, after waiting for its inputs.
  void run_here(const std::shared_ptr<Task>& task, const Interrupt& interrupt);
  // The same, but for a task with side effects, which waits for its turn.
  void run_at_once(const std::shared_ptr<Task>& task, const Interrupt& interrupt);
  // Submits deferred tasks whose values are still referenced.
  void submit_deferred();
  // Waits until all tasks submitted so far have run, except those submitted ahead. Throws on the executor's own thread,
  // which would deadlock.
  void drain(const Interrupt& interrupt);
  // Lets the thread end when the queue is empty; a later task starts it again.
  void close();

  // The number of tasks that were run as part of a chain so far.
  static uint64_t chained_tasks();

  // True on the thread of an executor.
  static bool on_own_thread();

  // Waits for one value, or computes it: the thread runs the tasks before it and its own while the executor's thread is
  // not at work, and they are short. On an executor's own thread (a Python operator reads a value), the task is taken
  // from the queue and run at once. Throws in case of a deadlock: a task reads its own output, or tasks of several
  // executors wait for one another.
  static void wait(Value& value, const Interrupt& interrupt);
  // For profiles: a wait for the value.
  static profile::Event waiting_for(Value& value);
  // Stops all threads after their current task; queued tasks fail. Threads that take longer are abandoned. For the end
  // of the process.
  static void stop_all(std::chrono::steady_clock::time_point latest, const Interrupt& interrupt);

 private:
  using Clock = std::chrono::steady_clock;

  Executor() = default;
  bool try_before_fork() override;
  void after_fork(bool in_child) override;
  void submit(const std::shared_ptr<Task>& task, bool wake);
  void enqueue(const std::shared_ptr<Task>& task, bool wake);
  void ensure_thread();
  std::shared_ptr<Task> take_from_queue(const Task* task);
  bool run_from_queue(const Task* task, const Interrupt& interrupt);
  void wait_for_work(const std::function<bool()>& done, const Interrupt& interrupt);
  bool may_run_while_waiting();
  void run_while_waiting(const std::function<bool()>& done);
  void join(std::chrono::steady_clock::time_point latest, const Interrupt& interrupt);
  void take_next();
  static void leave_deferred(Task& task, const ValuePtr& value, std::atomic<uint64_t>* finished);
  void wait_for_followers(std::unique_lock<std::mutex>& lock);
  bool wanted_now() const;
  void loop();
  void run_next(std::unique_lock<std::mutex>& lock);
  void spin_until_submitted();
  static void execute(Task& task, std::atomic<uint64_t>* finished);
  static void execute_chain(std::span<const std::shared_ptr<Task>> chain, std::atomic<uint64_t>* finished);
  static bool try_chain(std::span<const std::shared_ptr<Task>> chain, std::atomic<uint64_t>* finished);
  static void publish(Task& task, std::vector<Data> results, std::shared_ptr<const Failure> failure,
                      std::atomic<uint64_t>* finished);
  static void finish(const std::shared_ptr<Task>& task, const Interrupt& interrupt);
  static std::shared_ptr<Task> producer_of(Value& value);
  static std::vector<std::shared_ptr<Task>> tasks_reading(const Data& memory);
  static std::vector<ValuePtr> left_out_of(const Data& memory);
  static void record(profile::Work& work, std::span<Task* const> tasks);

  std::mutex mutex_;
  std::condition_variable work_, ended_;
  std::condition_variable wanted_;  // ends the pauses of the thread before it takes work from the queue
  std::deque<std::shared_ptr<Task>> queue_;
  std::deque<std::shared_ptr<Task>> ahead_;  // run when the queue is empty
  std::vector<std::weak_ptr<Task>> deferred_;
  size_t prune_at_ = 64;
  std::vector<std::shared_ptr<Task>> running_;  // a forked child runs them again
  size_t chained_ = 0;                          // the number of them, from the end, that form a chain
  std::vector<std::shared_ptr<Task>>
      nested_;  // tasks whose values a running task reads; a forked child runs them again, too
  bool thread_ = false, close_ = false, stop_ = false;
  bool busy_ = false;    // a thread runs the tasks in running_: that of the executor, or one that waits
  bool prompt_ = false;  // the last wait came soon after the first task since the wait before: the next one may, too
  bool expects_first_ = true, expects_followers_ = false;  // the time of the next task is noted
  Clock::time_point first_, newest_;
  int after_long_ = 0;  // tasks to be run by the thread, since an earlier one took long
  std::atomic<uint64_t> submitted_{0}, finished_{0};
  std::atomic<int> readers_{0};  // threads that wait for a value
  // The executor that the thread of this one waits for, and the condition. Guarded by Completion.
  Executor* waits_for_ = nullptr;
  const std::function<bool()>* waits_until_ = nullptr;
  ForkRegistration fork_{this, Rank::executor};
};

}  // namespace avida
