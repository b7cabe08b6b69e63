// What interrupts a thread that waits for a store: a signal, or that nobody wants the batch any more.
#pragma once
#include <exception>
#include <functional>
#include <utility>

namespace avida::storage {

// Thrown where a wait was interrupted, by whatever that threw. It is no std::exception: nothing takes it for an error
// of the data.
struct Interrupted {
  std::exception_ptr cause;
};

// While it lives, waits of this thread for stores call the function every 20 ms; it may throw.
class Interruptible {
 public:
  explicit Interruptible(const std::function<void()>& interrupt) : outer_(std::exchange(current, &interrupt)) {}
  ~Interruptible() { current = outer_; }
  Interruptible(const Interruptible&) = delete;

  static void check() {
    if (!current || !*current) return;
    try {
      (*current)();
    } catch (...) {
      throw Interrupted{std::current_exception()};
    }
  }

 private:
  static inline thread_local const std::function<void()>* current = nullptr;
  const std::function<void()>* outer_;
};

// Runs the function; what interrupts a wait in it is thrown as it is.
template <class Function>
auto interruptibly(const std::function<void()>& interrupt, Function&& function) {
  Interruptible scope(interrupt);
  try {
    return function();
  } catch (const Interrupted& interrupted) {
    std::rethrow_exception(interrupted.cause);
  }
}

}  // namespace avida::storage
