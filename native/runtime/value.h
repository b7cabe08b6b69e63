// A value that may still be pending, and the task that makes it.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "core/data.h"
#include "runtime/lineage.h"

namespace avida {

class Executor;
class Task;

struct Failure {
  ErrorKind kind;
  std::string message;
  std::shared_ptr<void> cause;  // the Python exception, when a Python function raised it
};

// A failure travelling as a C++ exception, so that what depends on a failed value fails the same way.
struct FailureError : std::exception {
  explicit FailureError(std::shared_ptr<const Failure> failure) : failure(std::move(failure)) {}
  const char* what() const noexcept override { return failure->message.c_str(); }
  std::shared_ptr<const Failure> failure;
};

class Value {
 public:
  explicit Value(const Meta& meta) : meta_(meta) {}
  Value(Data data, bool is_batch);
  Value(const Meta& meta, std::shared_ptr<const Failure> failure);
  Value(const Value&) = delete;

  // What is known without waiting: all of it once ready.
  Meta meta() const;
  bool pending() const { return state_.load(std::memory_order_acquire) == State::pending; }
  bool failed() const { return state_.load(std::memory_order_acquire) == State::failed; }

  // The samples, after waiting for them; throws FailureError. `interrupt` runs now and then while waiting and may
  // throw.
  const Data& get(const std::function<void()>& interrupt = {});
  // The samples of a value that is no longer pending.
  const Data& ready() const;

  LineagePtr lineage;  // null: no reader made it; set before anybody else has the value

 private:
  friend class Executor;
  friend class Task;
  enum class State : int8_t { pending, ready, failed };

  const Meta meta_;  // as promised
  Data data_;
  std::shared_ptr<const Failure> failure_;
  std::shared_ptr<Task> producer_;  // until finished; a deferred task is kept alive by its values alone
  std::atomic<State> state_{State::pending};
  std::atomic<bool> deferred_{false};  // its producer waits for somebody to read it
};

using ValuePtr = std::shared_ptr<Value>;

// One piece of work with its inputs and the values it promises.
class Task : public std::enable_shared_from_this<Task> {
 public:
  Task() = default;
  Task(const Task&) = delete;
  virtual ~Task();

  // Adds a promised value; `meta` is what can be told already.
  ValuePtr promise(const Meta& meta);

  // What a task keeps lies within it: one allocation for all of it.
  std::byte buffer_[512];
  std::pmr::monotonic_buffer_resource memory{buffer_, sizeof(buffer_)};

  std::pmr::vector<ValuePtr> inputs{&memory};

 protected:
  // Computes all outputs, in the order of the promises. May throw.
  virtual std::vector<Data> run() = 0;
  // True when nobody can notice that the task never ran.
  virtual bool pure() const { return true; }
  virtual Failure describe_failure(std::exception_ptr error) const = 0;

  // Tasks of which each works on the output of the one before may be run as one, so that less needs to be made.
  enum class Chain : int8_t { no, joins, leads };
  virtual Chain chain() const { return Chain::no; }
  // Runs `tasks`, of which this is the first, and returns the output of each; where kept[k] is false, nobody will see
  // that of tasks[k]. Returns nothing when it is not worth while. Whatever it throws, the tasks can still be run.
  virtual std::vector<Data> run_chain(std::span<Task* const> tasks, std::span<const bool> kept);

 private:
  friend class Executor;
  friend class Value;
  std::pmr::vector<std::weak_ptr<Value>> outputs_{&memory};
  std::shared_ptr<Executor> executor_;
  std::atomic<bool> submitted_{false};
};

}  // namespace avida
