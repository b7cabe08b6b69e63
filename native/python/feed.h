// Passes items to Python code. No exception loses an item, not even one raised by a signal handler.
//
// CPython runs signal handlers when it enters a Python function, after a call and at the end of a loop's round, but
// never while C code runs, nor between the last statements of a function that only store attributes, nor between an
// iterator in C and its `for` loop. So one C function takes an item, converts it and records that it was passed on.
#pragma once
#include <atomic>
#include <deque>

#include "ahead/loop.h"
#include "python/python.h"

namespace avida::python {

class Feed {
 public:
  virtual ~Feed();

  // Prepares up to `depth` items ahead of the loop that takes them.
  void run_ahead(std::shared_ptr<UserLoop> loop, int depth, bool grows);

  // Calls made = make(item) for the next item, and commit(item, made), which records that it was passed on: by storing
  // attributes, after everything that can fail. Continues with the next item if `made` is None. If make(item) fails
  // because of the item, commit(item, None) records that, too. After the last item calls end(), unless it is None, and
  // then raises StopIteration, or returns an invalid object if end() has returned True, or if another feed has the
  // rest.
  nb::object take(nb::handle make, nb::handle commit, nb::handle end);

  int traverse(visitproc visit, void* arg) const;
  virtual void clear() { std::deque<nb::object>().swap(returned_); }

 protected:
  // Returns an invalid object after the last item.
  virtual nb::object next() = 0;
  // What profiles say of that.
  virtual profile::Event taking_item() const = 0;
  // A function that shows the next items, or null; it makes no Python objects.
  virtual UserLoop::Peek peek() { return nullptr; }
  // Has the function called when more items can be seen.
  virtual void when_read(std::function<void()>) {}

  // Notes that an item was passed on; `made` is None if making it has failed. All or nothing is stored.
  virtual void commit(nb::handle function, nb::handle item, nb::handle made) {
    call_python(function, {item.ptr(), made.ptr()});
  }
  // Notes that there are no more. Returns whether another feed has the rest.
  virtual bool end(nb::handle function) { return !function.is_none() && nb::cast<bool>(call_python(function, {})); }

  // Whether another feed has the items that were left.
  virtual bool is_retired() const { return false; }

  const std::deque<nb::object>& returned() const { return returned_; }
  bool ended() const { return ended_; }
  bool is_busy() const { return busy_ > 0; }

  uint64_t changes_ = 0;  // counts the items that were taken, and what else changes which ones are left

  // An item is being made, or passed on.
  class Busy {
   public:
    explicit Busy(Feed& feed) : feed_(feed) { feed_.busy_++; }
    Busy(const Busy&) = delete;
    ~Busy() { feed_.busy_--; }

   private:
    Feed& feed_;
  };

 private:
  nb::object hand_over(nb::object item, nb::handle make, nb::handle commit);

  std::deque<nb::object> returned_;  // taken, but not passed on
  std::shared_ptr<UserLoop> loop_;   // null if nothing is prepared ahead
  bool ended_ = false;
  std::atomic<int> busy_{0};
};

// Starts a thread for Python code of users, as threading.Thread would: it has the GIL, this thread's context variables,
// mode and context, and what debuggers and profilers want. `work` does not throw.
void start_python_thread(std::function<void()> work);

// An exception with its traceback.
nb::object exception_of(const nb::python_error& error);
// Whether what raised it has failed, and was not just interrupted.
bool is_fault_of_item(const nb::python_error& error);

// Stops the background threads, for the end of the process; those inside of a source that does not return until
// `latest` are abandoned.
void stop_background_items(std::chrono::steady_clock::time_point latest, const Interrupt& interrupt);

void bind_feeds(nb::module_& m);

}  // namespace avida::python
