// Reading files.
#pragma once
#include <cstdint>
#include <string>

namespace avida {

// An open regular file. Everything else is refused, and a named pipe does not make anybody wait. Errors do not name the
// path: who reads knows it.
class File {
 public:
  explicit File(const std::string& path);
  ~File();
  File(const File&) = delete;

  int64_t size() const { return size_; }  // when it was opened
  int64_t current_size() const;
  // Asks the system to bring the file, or a part of it, into memory, without waiting for it.
  void read_ahead(int64_t offset = 0, int64_t bytes = 0) const;
  // Reads `bytes` from the beginning; throws when the file has become shorter.
  void read(void* to, int64_t bytes) const;
  // The same from a place in the file; from several threads at a time.
  void read_at(int64_t offset, void* to, int64_t bytes) const;

 private:
  int descriptor_;
  int64_t size_ = 0;
};

}  // namespace avida
