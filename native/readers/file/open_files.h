// The open files of a data set: opened when they are first read, and a bounded number at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/file.h"
#include "runtime/fork.h"

namespace avida {

// A bounded number of files stays open; the least recently used one is closed when another is needed. Thread-safe.
class OpenFiles : ForkAware {
 public:
  explicit OpenFiles(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  const std::string& path(size_t number) const { return paths_[number]; }
  // The returned pointer keeps the file open while it is read.
  std::shared_ptr<const File> get(size_t number);

 private:
  struct Entry {
    size_t number;
    uint64_t last_use;
    std::shared_ptr<const File> file;
  };

  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool) override { mutex_.unlock(); }

  const std::vector<std::string> paths_;
  std::mutex mutex_;
  std::vector<Entry> open_;
  uint64_t uses_ = 0;
  ForkRegistration fork_{this, Rank::reader};
};

}  // namespace avida
