#include "readers/file/held_file.h"

#include <mutex>
#include <unordered_set>

#include "runtime/fork.h"

namespace avida {

// All files that are held open. A forked child does not have the threads that hold them, and closes its copies.
class HeldFile::Registry : ForkAware {
 public:
  void add(HeldFile* file) {
    std::lock_guard lock(mutex_);
    files_.insert(file);
  }
  void remove(HeldFile* file) {
    std::lock_guard lock(mutex_);
    files_.erase(file);
  }
  bool is_full() {
    std::lock_guard lock(mutex_);
    return files_.size() >= kMostOpen;
  }
  static Registry& instance() { return *instance_; }

 private:
  static constexpr size_t kMostOpen = 256;
  static Registry* const instance_;

  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool in_child) override {
    if (in_child) {
      for (HeldFile* file : files_) file->file_.reset();
      files_.clear();
    }
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::unordered_set<HeldFile*> files_;
  ForkRegistration fork_{this, Rank::reader};
};

HeldFile::Registry* const HeldFile::Registry::instance_ = new Registry;

HeldFile::HeldFile(std::string path) : path_(std::move(path)) { open(); }

void HeldFile::open() {
  file_.emplace(path_);
  Registry::instance().add(this);
}

void HeldFile::close() {
  if (!file_) return;
  Registry::instance().remove(this);
  file_.reset();
}

void HeldFile::close_if_many_are_open() {
  if (Registry::instance().is_full()) close();
}

}  // namespace avida
