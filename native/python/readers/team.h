// Threads that read the samples of a batch together with the one that wants it.
#pragma once
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "python/python.h"

namespace avida::python {

class Team {
 public:
  // Parts of a batch, which whoever is free takes in order. Owns all that reading needs, since a thread may be inside
  // of the user's code when nobody waits for the batch any more. Created and dropped with the GIL.
  struct Work {
    Work(size_t parts, std::function<nb::object(size_t)> read) : read(std::move(read)), made(parts), errors(parts) {}

    void take_part();
    bool is_open() const { return next < made.size(); }
    void close() { next = made.size(); }

    std::function<nb::object(size_t)> read;
    std::vector<nb::object> made;
    std::vector<std::exception_ptr> errors;
    std::atomic<size_t> next{0};
    int inside = 0;  // helpers, guarded by the mutex of the team
  };

  explicit Team(int helpers) : helpers_(helpers), shared_(std::make_shared<Shared>()) {}
  Team(const Team&) = delete;
  // The helpers end when they return from the user's code.
  ~Team();

  int helpers() const { return helpers_; }

  // With the GIL. Returns when all parts are read, or those before an error; throws Stopped, or what a signal handler
  // raises. The helpers have this thread's settings.
  void run(const std::shared_ptr<Work>& work, const std::atomic<bool>* stop);

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::shared_ptr<Work> work;
    bool stopped = false;
  };

  static void help(Shared& shared);

  const int helpers_;
  int started_ = 0;
  std::shared_ptr<Shared> shared_;
};

}  // namespace avida::python
