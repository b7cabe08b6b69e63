// A file descriptor that is closed by its destructor, and reads and writes of all bytes.
#pragma once
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace avida::storage {

struct Descriptor {
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;

  // Returns how many bytes there were.
  int64_t read(int64_t offset, void* to, int64_t bytes) const {
    int64_t done = 0;
    while (done < bytes) {
      const ssize_t n = pread(number, static_cast<char*>(to) + done, static_cast<size_t>(bytes - done), offset + done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      done += n;
    }
    return done;
  }
  // Returns the number of the error, 0 without one.
  int write(int64_t offset, const void* from, int64_t bytes) const {
    for (int64_t done = 0; done < bytes;) {
      const ssize_t n =
          pwrite(number, static_cast<const char*>(from) + done, static_cast<size_t>(bytes - done), offset + done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return n < 0 ? errno : EIO;
      done += n;
    }
    return 0;
  }

  const int number;
};

}  // namespace avida::storage
