#include "storage/local.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "runtime/fork.h"
#include "runtime/memory.h"
#include "storage/waiting.h"

namespace avida::storage {
namespace {

constexpr std::string_view kFileScheme = "file://";
constexpr int kEntriesPerCheck = 1024;  // of a folder, between two looks for interrupts

[[noreturn]] void fail_with(const char* what, int error) { refuse(what, ": ", std::strerror(error)); }

int64_t time_of_change(const struct stat& info) {
  return int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

// A file, its descriptor, if it is open, and its place among those that are open.
class LocalFile : public Object {
 public:
  static ObjectPtr open(std::string path);
  LocalFile(std::string path, int descriptor, const struct stat& info);
  ~LocalFile() override;

  Identity identity() const override { return {size(), std::to_string(changed_)}; }
  void read_at(int64_t offset, void* to, int64_t bytes) const override;
  void read_ahead(int64_t offset, int64_t bytes) const override;
  void rest() const override;

 private:
  friend class OpenFiles;

  struct Opened {
    int descriptor;
    struct stat info;
  };
  static Opened open_path(const std::string& path);
  int open_again() const;

  const std::string path_;
  const int64_t changed_;
  const dev_t device_;
  const ino_t inode_;

  // Guarded by the lock of OpenFiles, except that threads that have read leave without it.
  mutable int descriptor_ = -1;
  mutable std::atomic<int> reading_ = 0;
  mutable const LocalFile *newer_ = nullptr, *older_ = nullptr;
};

// The files that are open, in the order of their last use. A child closes its copies, as it does not have the threads
// that read them; the files are opened again by its next reads.
class OpenFiles : ForkAware {
 public:
  // Returns whether there is room for a file that was opened to be read later on.
  bool add(const LocalFile& file, int descriptor) {
    std::lock_guard lock(mutex_);
    if (count_ >= most()) return false;
    insert(file, descriptor);
    return true;
  }
  // The file stays open until it is given back. `open` is called without the lock.
  template <class Open>
  int take(const LocalFile& file, const Open& open) {
    if (const int known = take_if_open(file); known >= 0) return known;
    const int opened = open();
    int closed = -1, descriptor = opened;
    {
      std::lock_guard lock(mutex_);
      if (file.descriptor_ >= 0) {  // another thread was faster
        closed = opened;
        descriptor = file.descriptor_;
      } else {
        if (count_ >= most()) closed = remove_oldest();
        insert(file, opened);
      }
      file.reading_++;
    }
    if (closed >= 0) ::close(closed);
    return descriptor;
  }
  static void give_back(const LocalFile& file) { file.reading_--; }
  void close(const LocalFile& file) {
    int closed = -1;
    {
      std::lock_guard lock(mutex_);
      if (file.descriptor_ >= 0 && file.reading_ == 0) closed = remove(file);
    }
    if (closed >= 0) ::close(closed);
  }
  void close_all() {
    std::vector<int> closed;
    {
      std::lock_guard lock(mutex_);
      for (int each = remove_oldest(); each >= 0; each = remove_oldest()) closed.push_back(each);
    }
    for (int each : closed) ::close(each);
  }
  static OpenFiles& instance() { return *instance_; }

 private:
  static constexpr int kMostOpen = 256, kLeastOpen = 16;
  static OpenFiles* const instance_;

  // A quarter of what the process may open, which is read again from time to time.
  int most() {
    if (count_ < kLeastOpen) return kLeastOpen;
    if (questions_++ % 64 == 0) {
      rlimit limit{};
      getrlimit(RLIMIT_NOFILE, &limit);
      most_ = static_cast<int>(std::clamp<rlim_t>(limit.rlim_cur / 4, kLeastOpen, kMostOpen));
    }
    return most_;
  }
  int take_if_open(const LocalFile& file) {
    std::lock_guard lock(mutex_);
    if (file.descriptor_ < 0) return -1;
    file.reading_++;
    if (newest_ != &file) {
      unlink(file);
      link(file);
    }
    return file.descriptor_;
  }
  void insert(const LocalFile& file, int descriptor) {
    file.descriptor_ = descriptor;
    link(file);
    count_++;
  }
  int remove(const LocalFile& file) {
    unlink(file);
    count_--;
    return std::exchange(file.descriptor_, -1);
  }
  int remove_oldest() {
    for (const LocalFile* file = oldest_; file; file = file->newer_)
      if (file->reading_ == 0) return remove(*file);
    return -1;
  }
  void link(const LocalFile& file) {
    file.older_ = newest_;
    file.newer_ = nullptr;
    (newest_ ? newest_->newer_ : oldest_) = &file;
    newest_ = &file;
  }
  void unlink(const LocalFile& file) {
    (file.newer_ ? file.newer_->older_ : newest_) = file.older_;
    (file.older_ ? file.older_->newer_ : oldest_) = file.newer_;
  }

  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool in_child) override {
    while (in_child && oldest_) {
      oldest_->reading_ = 0;
      ::close(remove(*oldest_));
    }
    mutex_.unlock();
  }

  std::mutex mutex_;
  const LocalFile *newest_ = nullptr, *oldest_ = nullptr;
  int count_ = 0, most_ = kMostOpen;
  unsigned questions_ = 0;
  ForkRegistration fork_{this, Rank::reader};
};

OpenFiles* const OpenFiles::instance_ = new OpenFiles;

// The descriptor of a file while it is read.
class Reading {
 public:
  template <class Open>
  Reading(const LocalFile& file, const Open& open) : descriptor(OpenFiles::instance().take(file, open)), file_(file) {}
  ~Reading() { OpenFiles::give_back(file_); }
  Reading(const Reading&) = delete;

  const int descriptor;

 private:
  const LocalFile& file_;
};

int open_without_waiting(const std::string& path) {
  // A plain open of a named pipe would wait for a writer; O_NONBLOCK fails only for files with a lease.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0 && errno == EWOULDBLOCK) descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return descriptor;
}

LocalFile::Opened LocalFile::open_path(const std::string& path) {
  int descriptor = open_without_waiting(path);
  if (descriptor < 0 && (errno == EMFILE || errno == ENFILE)) {
    OpenFiles::instance().close_all();
    descriptor = open_without_waiting(path);
  }
  if (descriptor < 0) fail_with("cannot be opened", errno);
  struct stat info;
  const int error = fstat(descriptor, &info) == 0 ? 0 : errno;
  if (error == 0 && S_ISREG(info.st_mode)) return {descriptor, info};
  ::close(descriptor);
  if (error) fail_with("cannot be read", error);
  refuse("expected a regular file, got a folder, pipe or device");
}

ObjectPtr LocalFile::open(std::string path) {
  const Opened opened = open_path(path);
  return std::make_shared<LocalFile>(std::move(path), opened.descriptor, opened.info);
}

LocalFile::LocalFile(std::string path, int descriptor, const struct stat& info)
    : Object(info.st_size),
      path_(std::move(path)),
      changed_(time_of_change(info)),
      device_(info.st_dev),
      inode_(info.st_ino) {
  if (!OpenFiles::instance().add(*this, descriptor)) ::close(descriptor);
}

LocalFile::~LocalFile() { OpenFiles::instance().close(*this); }

// A file that was written to is still the same one: what it has lost is missed when that is read.
int LocalFile::open_again() const {
  const Opened opened = open_path(path_);
  const bool is_other = opened.info.st_dev != device_ || opened.info.st_ino != inode_;
  if (!is_other || (opened.info.st_size == size() && time_of_change(opened.info) == changed_)) return opened.descriptor;
  ::close(opened.descriptor);
  refuse("the file changed after it was opened: another one of ", opened.info.st_size,
         " bytes has taken its place, expected ", size());
}

void LocalFile::read_at(int64_t offset, void* to, int64_t bytes) const {
  if (bytes == 0) return;
  const Reading reading(*this, [this] { return open_again(); });
  for (int64_t done = 0; done < bytes;) {
    const ssize_t n =
        ::pread(reading.descriptor, static_cast<char*>(to) + done, static_cast<size_t>(bytes - done), offset + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with("cannot be read", errno);
    if (n == 0) {
      struct stat info;
      if (fstat(reading.descriptor, &info) != 0) fail_with("cannot be read", errno);
      refuse("expected ", bytes, " bytes at byte ", offset, ", but the file has only ", info.st_size, " bytes");
    }
    done += n;
  }
}

void LocalFile::read_ahead(int64_t offset, int64_t bytes) const {
  const Reading reading(*this, [this] { return open_again(); });
  posix_fadvise(reading.descriptor, offset, bytes, POSIX_FADV_WILLNEED);
}

void LocalFile::rest() const { OpenFiles::instance().close(*this); }

class LocalStore : public Store {
 public:
  bool is_local() const override { return true; }
  ObjectPtr open(const std::string& path) const override { return LocalFile::open(path); }

  void get(Request& request) const override {
    if (request.bytes == 0) {
      struct stat info;
      if (stat(request.name.c_str(), &info) != 0) fail_with("cannot be opened", errno);
      request.identity = {info.st_size, std::to_string(time_of_change(info))};
      return;
    }
    const ObjectPtr file = open(request.name);
    request.identity = file->identity();
    const int64_t left = std::max<int64_t>(file->size() - request.offset, 0);
    request.received = request.bytes == Request::kAll ? left : std::min(request.bytes, left);
    request.data = allocate(request.received);
    file->read_at(request.offset, request.data.get(), request.received);
  }

  void fetch(std::span<Request> requests) const override {
    for (Request& request : requests) {
      try {
        get(request);
      } catch (...) {
        request.error = std::current_exception();
      }
    }
  }

  void list(const std::string& folder, bool deep, const OnEntry& on_entry) const override {
    list(folder.empty() ? "." : folder, "", deep, on_entry);
  }

 private:
  static void list(const std::string& folder, const std::string& prefix, bool deep, const OnEntry& on_entry) {
    DIR* dir = opendir(folder.c_str());
    if (!dir) refuse("cannot list the folder ", folder, ": ", std::strerror(errno));
    const std::unique_ptr<DIR, int (*)(DIR*)> close(dir, closedir);
    for (int entries = 1; dirent* entry = readdir(dir); entries++) {
      if (entries % kEntriesPerCheck == 0) Interruptible::check();
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      const auto [is_folder, is_file] = kind_of(dir, *entry);
      const std::string path = prefix.empty() ? std::string() : str(prefix, name);
      if (!deep ? is_folder || is_file : is_file)
        on_entry({prefix.empty() ? name : path, is_folder});
      else if (is_folder && entry->d_type != DT_LNK)  // a link may lead back
        list(str(folder, '/', name), str(prefix, name, '/'), deep, on_entry);
    }
  }

  struct Kind {
    bool is_folder, is_file;
  };
  static Kind kind_of(DIR* dir, const dirent& entry) {
    if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return {entry.d_type == DT_DIR, entry.d_type == DT_REG};
    struct stat info;
    if (fstatat(dirfd(dir), entry.d_name, &info, 0) != 0) return {false, false};
    return {S_ISDIR(info.st_mode), S_ISREG(info.st_mode)};
  }
};

int digit_of(char c) {
  return '0' <= c && c <= '9'   ? c - '0'
         : 'a' <= c && c <= 'f' ? c - 'a' + 10
         : 'A' <= c && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// Made while the library is loaded: see runtime/fork.h.
const std::shared_ptr<const Store>* const made = new std::shared_ptr<const Store>(std::make_shared<LocalStore>());

}  // namespace

const std::shared_ptr<const Store>& local_store() { return *made; }

ObjectPtr open_file(std::string path) { return LocalFile::open(std::move(path)); }

bool is_local_path(const std::string& name) {
  const std::string_view scheme = scheme_of(name);
  return scheme.empty() || scheme == "file";
}

std::string local_path(const std::string& name) {
  if (!name.starts_with(kFileScheme)) return name;
  std::string path;
  for (size_t i = kFileScheme.size(); i < name.size(); i++) {
    const int high = name[i] == '%' && i + 2 < name.size() ? digit_of(name[i + 1]) : -1;
    const int low = high >= 0 ? digit_of(name[i + 2]) : -1;
    path += low >= 0 ? static_cast<char>(high * 16 + low) : name[i];
    if (low >= 0) i += 2;
  }
  return path;
}

bool local_path_exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

bool is_local_folder(const std::string& name) {
  struct stat info;
  return is_local_path(name) && stat(local_path(name).c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace avida::storage
