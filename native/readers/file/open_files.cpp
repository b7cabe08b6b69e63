#include "readers/file/open_files.h"

#include <algorithm>

namespace avida {
namespace {

constexpr size_t kMostOpen = 64;  // low enough for several readers in a process with a limit of 1,024 files

}  // namespace

std::shared_ptr<const File> OpenFiles::get(size_t number) {
  {
    std::lock_guard lock(mutex_);
    for (Entry& entry : open_) {
      if (entry.number != number) continue;
      entry.last_use = ++uses_;
      return entry.file;
    }
  }
  auto file = std::make_shared<const File>(path(number));  // may take long, so the lock is not held
  std::shared_ptr<const File> closed;                      // closed after the lock is released
  std::lock_guard lock(mutex_);
  if (open_.size() < kMostOpen) {
    open_.push_back({number, ++uses_, file});
    return file;
  }
  auto oldest = std::min_element(open_.begin(), open_.end(), [](auto& a, auto& b) { return a.last_use < b.last_use; });
  closed = std::move(oldest->file);
  *oldest = {number, ++uses_, file};
  return file;
}

}  // namespace avida
