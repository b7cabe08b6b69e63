// Files that hold many records each, and where the records are.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "readers/open_files.h"

namespace avida {

// What finds the records of a file: calls record(offset, bytes) for each, in order, and reads the headers only. Errors
// name the path and the place.
using FoundRecord = std::function<void(int64_t offset, int64_t bytes)>;
using FindRecords = void (*)(const std::string& path, const File& file, const FoundRecord& record);

class RecordFiles {
 public:
  struct Place {
    int file;
    int64_t offset, size;  // zero: the size is not known
  };

  explicit RecordFiles(std::vector<std::string> paths);

  int files() const { return static_cast<int>(sizes_.size()); }
  const std::string& path(int file) const { return files_->path(static_cast<size_t>(file)); }
  int64_t file_size(int file) const { return sizes_[file]; }
  // From several threads at a time. Nobody keeps a file for longer than a read: there may be more than a process may
  // open.
  std::shared_ptr<const File> open(int file) const { return files_->get(static_cast<size_t>(file)); }

  // Records are added file by file. Their places are checked when they are read.
  void add(int file, int64_t offset, int64_t size);
  // Adds what is found in all files. With `keep_damaged`, the place where no record could be found is one more of them,
  // which fails when it is read; otherwise that is an error.
  void search(FindRecords find, bool keep_damaged);
  int64_t size() const { return static_cast<int64_t>(records_.size()); }
  Place place(int64_t record) const;
  std::string describe(int64_t record) const;  // "a.tfrecord, record 17 at byte 1234"

 private:
  struct Record {
    int64_t offset, size;
  };

  std::unique_ptr<OpenFiles> files_;
  std::vector<int64_t> sizes_;  // of the files
  std::vector<Record> records_;
  std::vector<int64_t> first_;  // record of each file
};

// The whole numbers in a text file, two by two: the form of index files. Errors name the file and the line.
void read_pairs(const std::string& path, const std::function<void(int64_t, int64_t)>& pair);

// Short pieces of a file, in ascending order: those close to one another cost one read.
class FileWindow {
 public:
  explicit FileWindow(const File& file) : file_(file) {}
  // The piece must lie within the file, and is valid until the next call.
  const char* at(int64_t offset, int64_t bytes);

 private:
  static constexpr int64_t kSize = 4096;

  const File& file_;
  int64_t begin_ = 0, end_ = 0;
  char window_[kSize];
};

}  // namespace avida
