// Reading files.
#pragma once
#include <cstdint>
#include <string>

namespace avida {

// What tells that a file is still the same.
struct FileState {
  int64_t size, modified;  // in bytes, in nanoseconds
  bool operator==(const FileState&) const = default;
};
// Errors do not name the path.
FileState file_state(const std::string& path);

// An open regular file. Anything else is an error, and opening a named pipe does not block. Errors do not name the
// path: the caller adds it.
class File {
 public:
  explicit File(const std::string& path);
  ~File();
  File(const File&) = delete;

  int64_t size() const { return size_; }  // at the time of opening
  int64_t current_size() const;
  // Lets the system read the file, or a part of it, into the page cache, without waiting.
  void read_ahead(int64_t offset = 0, int64_t bytes = 0) const;
  // Reads `bytes` from the beginning; throws if the file has become shorter.
  void read(void* to, int64_t bytes) const;
  // The same from an offset; thread-safe.
  void read_at(int64_t offset, void* to, int64_t bytes) const;

 private:
  int descriptor_;
  int64_t size_ = 0;
};

}  // namespace avida
