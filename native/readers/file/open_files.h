// The files of a data set that consists of few or very many, opened when they are first read.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/file.h"
#include "runtime/fork.h"

namespace avida {

// Some files stay open; then the one that was not used for longest is closed when another is needed. May be used from
// several threads at a time.
class OpenFiles : ForkAware {
 public:
  explicit OpenFiles(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  const std::string& path(size_t number) const { return paths_[number]; }
  // The caller's share keeps the file open while it is read.
  std::shared_ptr<const File> get(size_t number);

 private:
  struct Entry {
    size_t number;
    uint64_t last_use;
    std::shared_ptr<const File> file;
  };

  void before_fork() override { mutex_.lock(); }
  void after_fork(bool) override { mutex_.unlock(); }

  const std::vector<std::string> paths_;
  std::mutex mutex_;
  std::vector<Entry> open_;
  uint64_t uses_ = 0;
  ForkRegistration fork_{this, Rank::reader};
};

}  // namespace avida
