#include "runtime/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace avida {
namespace {

[[noreturn]] void fail_with(const char* what, int error) { refuse(what, ": ", std::strerror(error)); }

int open_without_waiting(const std::string& path) {
  // A plain open of a named pipe would wait for a writer; O_NONBLOCK fails only for files with a lease.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0 && errno == EWOULDBLOCK) descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_with("cannot be opened", errno);
  return descriptor;
}

}  // namespace

FileState file_state(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) fail_with("cannot be opened", errno);
  return {info.st_size, int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

File::File(const std::string& path) : descriptor_(open_without_waiting(path)) {
  struct stat info;
  int error = fstat(descriptor_, &info) == 0 ? 0 : errno;
  if (error == 0 && S_ISREG(info.st_mode)) {
    size_ = info.st_size;
    return;
  }
  ::close(descriptor_);
  if (error) fail_with("cannot be read", error);
  refuse("expected a regular file, got a folder, pipe or device");
}

File::~File() { ::close(descriptor_); }

int64_t File::current_size() const {
  struct stat info;
  if (fstat(descriptor_, &info) != 0) fail_with("cannot be read", errno);
  return info.st_size;
}

void File::read_ahead(int64_t offset, int64_t bytes) const {
  posix_fadvise(descriptor_, offset, bytes, POSIX_FADV_WILLNEED);
}

void File::read(void* to, int64_t bytes) const { read_at(0, to, bytes); }

void File::read_at(int64_t offset, void* to, int64_t bytes) const {
  for (int64_t done = 0; done < bytes;) {
    ssize_t n = ::pread(descriptor_, static_cast<char*>(to) + done, static_cast<size_t>(bytes - done), offset + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with("cannot be read", errno);
    if (n == 0)
      refuse("expected ", bytes, " bytes at byte ", offset, ", but the file has only ", current_size(), " bytes");
    done += n;
  }
}

}  // namespace avida
