// A value that may still be pending, and the task that computes it.
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
#include "runtime/profile.h"

namespace avida {

class Executor;
class Task;

struct Failure {
  ErrorKind kind;
  std::string message;
  std::shared_ptr<void> cause;  // the Python exception, if a Python function raised it
  std::string note = {};        // where the call was made; clients of a server need not see it
};

// Kind and message of any exception.
Failure describe(std::exception_ptr error);

// A failure as a C++ exception, so that everything that depends on a failed value fails with the same error.
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
  ~Value();

  // The metadata that is known without waiting; complete once ready.
  Meta meta() const;
  bool pending() const { return state_.load(std::memory_order_acquire) == State::pending; }
  bool failed() const { return state_.load(std::memory_order_acquire) == State::failed; }

  // The samples, after waiting for them; throws FailureError. `interrupt` is called regularly during the wait and may
  // throw.
  const Data& get(const std::function<void()>& interrupt = {});
  // The samples of a value that is no longer pending.
  const Data& ready() const;

  // Says before its task runs that only the next task of a chain will probably read it. Then it is computed as far as
  // that task needs, and as a whole once somebody else reads it, which sets the flag.
  void expect_one_use(std::shared_ptr<std::atomic<bool>> read_by_others) {
    read_by_others_ = std::move(read_by_others);
  }

  LineagePtr lineage;  // null if no reader produced it; set before the value is shared

 private:
  friend class Executor;
  friend class Task;
  enum class State : int8_t { pending, ready, failed };

  const Meta meta_;  // as inferred at the call
  Data data_;
  std::shared_ptr<const Failure> failure_;
  std::shared_ptr<Task> producer_;  // until finished; a deferred task is kept alive only by its values
  std::atomic<State> state_{State::pending};
  std::atomic<bool> deferred_{false};                  // its producer is not queued until the value is read
  std::shared_ptr<std::atomic<bool>> read_by_others_;  // null unless one call is expected to read it
};

using ValuePtr = std::shared_ptr<Value>;

constexpr int64_t kFewBorrowed = 64 << 10;  // bytes: copying them takes less than a thread needs to wake up

// One unit of work with its inputs and its promised values.
class Task : public std::enable_shared_from_this<Task> {
 public:
  Task() = default;
  Task(const Task&) = delete;
  virtual ~Task();

  // Adds a promised value; `meta` is what is known already.
  ValuePtr promise(const Meta& meta);

  // Memory inside of the task for its members: one allocation for all.
  std::byte buffer_[512];
  std::pmr::monotonic_buffer_resource memory{buffer_, sizeof(buffer_)};

  std::pmr::vector<ValuePtr> inputs{&memory};

  // Copies inputs in memory that others can write to, where that is cheaper than to wait for the task. Returns whether
  // some remain: then the task is to have run when its call returns.
  bool keeps_borrowed();

 protected:
  // Computes all outputs, in the order of the promises. May throw.
  virtual std::vector<Data> run() = 0;
  // Whether the task has no side effects, so that it may be skipped if no output is referenced.
  virtual bool pure() const { return true; }
  virtual Failure describe_failure(std::exception_ptr error) const = 0;
  // Whether a thread that waits for a value may run it, which it does without answering interrupts; else only the
  // thread of the executor does.
  virtual bool runs_anywhere() const { return false; }
  // How many bytes of an input, in memory that others can write to, are rather copied than read before the call
  // returns.
  virtual int64_t copies_up_to() const { return kFewBorrowed; }
  // What profiles call it.
  virtual profile::Label label() const = 0;

  // Tasks of which each reads the output of the previous one may be run as a chain, so that less needs to be computed.
  enum class Chain : int8_t { no, joins, leads };
  virtual Chain chain() const { return Chain::no; }
  // Runs `tasks`, of which this is the first, and returns the output of each; if kept[k] is false, the output of
  // tasks[k] is not referenced. Returns an empty vector if a chain does not pay. After an exception the tasks can still
  // be run.
  virtual std::vector<Data> run_chain(std::span<Task* const> tasks, std::span<const bool> kept);

 private:
  friend class Executor;
  friend class Value;
  bool reads(const Data& memory) const;
  bool reads_exposed() const;

  std::pmr::vector<std::weak_ptr<Value>> outputs_{&memory};
  std::shared_ptr<Executor> executor_;
  std::atomic<bool> submitted_{false}, finished_{false};
  std::atomic<bool> ahead_{false};          // nobody has asked for it yet
  std::atomic<bool> has_followers_{false};  // they were submitted together with it
};

}  // namespace avida
