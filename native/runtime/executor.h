// Runs tasks one after another on a thread of its own, in the order they were submitted.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "runtime/fork.h"
#include "runtime/value.h"

namespace avida {

// Runs now and then while a thread waits; may throw to end the wait.
using Interrupt = std::function<void()>;

class Executor : public std::enable_shared_from_this<Executor>, ForkAware {
 public:
  static std::shared_ptr<Executor> create();

  // Keeps the task until one of its values is read.
  void defer(const std::shared_ptr<Task>& task);
  // Queues the task, and first whatever deferred tasks it depends on.
  void submit(const std::shared_ptr<Task>& task);
  // Runs the task on this thread, after waiting for its inputs.
  void run_here(const std::shared_ptr<Task>& task, const Interrupt& interrupt);
  // Submits what was deferred and is still wanted.
  void submit_deferred();
  // Waits until all that was submitted so far has run.
  void drain(const Interrupt& interrupt);
  // Lets the thread end when the queue is empty; a later task starts it again.
  void close();

  // How many tasks were run as part of a chain so far.
  static uint64_t chained_tasks();

  // True on the thread of an executor.
  static bool on_own_thread();

  // Waits for one value. On an executor's own thread (a Python operator reads a value), what is queued behind the
  // running task is run at once.
  static void wait(Value& value, const Interrupt& interrupt);
  // Ends all threads after the task each is running; what is still queued fails. For the end of the process.
  static void stop_all();

 private:
  Executor() = default;
  void before_fork() override;
  void after_fork(bool in_child) override;
  void enqueue(const std::shared_ptr<Task>& task);
  void ensure_thread();
  std::shared_ptr<Task> take_from_queue(const Task* task);
  void take_next();
  void wait_for_followers(std::unique_lock<std::mutex>& lock);
  void loop();
  void spin_until_submitted();
  static void execute(Task& task, std::atomic<uint64_t>* finished);
  static void execute_chain(std::span<const std::shared_ptr<Task>> chain, std::atomic<uint64_t>* finished);
  static bool try_chain(std::span<const std::shared_ptr<Task>> chain, std::atomic<uint64_t>* finished);
  static void publish(Task& task, std::vector<Data> results, std::shared_ptr<const Failure> failure,
                      std::atomic<uint64_t>* finished);
  static std::shared_ptr<Task> producer_of(Value& value);

  std::mutex mutex_;
  std::condition_variable work_, ended_;
  std::deque<std::shared_ptr<Task>> queue_;
  std::vector<std::weak_ptr<Task>> deferred_;
  size_t prune_at_ = 64;
  std::vector<std::shared_ptr<Task>> running_;  // a child process runs them again
  size_t chained_ = 0;                          // how many of them, from the end, form a chain
  bool thread_ = false, close_ = false, stop_ = false;
  std::atomic<uint64_t> submitted_{0}, finished_{0};
  std::atomic<int> readers_{0};  // threads that wait for a value
  ForkRegistration fork_{this, Rank::executor};
};

}  // namespace avida
