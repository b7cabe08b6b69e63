// A value that is made at its first use and never destroyed, without a lock.
//
// A static variable of a function has a lock, which a fork may leave locked for good in the child. Here threads that
// come at the same time all make the value, and one of them keeps its own. What has threads or locks of its own is made
// while the library is loaded.
#pragma once
#include <atomic>
#include <memory>

namespace avida {

template <class T>
class MadeOnce {
 public:
  constexpr MadeOnce() = default;

  T& get() {
    return get([] { return std::make_unique<T>(); });
  }
  // `make` returns a std::unique_ptr<T>.
  template <class Make>
  T& get(Make make) {
    T* known = made_.load(std::memory_order_acquire);
    if (known) return *known;
    std::unique_ptr<T> mine = make();
    return made_.compare_exchange_strong(known, mine.get(), std::memory_order_acq_rel) ? *mine.release() : *known;
  }

 private:
  std::atomic<T*> made_{nullptr};
};

}  // namespace avida
