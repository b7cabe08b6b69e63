// Locates the records of files that hold many, from an index or by a scan.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "readers/source.h"
#include "storage/fetched.h"

namespace avida {

// Finds the records of a file: calls record(offset, bytes) for each, in order, and reads only the headers. Errors name
// the path and the offset.
using FoundRecord = std::function<void(int64_t offset, int64_t bytes)>;
using FindRecords = void (*)(const std::string& path, const storage::Object& file, const FoundRecord& record);

class RecordFiles {
 public:
  struct Place {
    int file;
    int64_t offset, size;  // a size of zero is unknown
  };

  explicit RecordFiles(std::vector<std::string> paths);

  int files() const { return static_cast<int>(files_.size()); }
  const std::string& path(int file) const { return paths_[static_cast<size_t>(file)]; }
  const storage::ObjectPtr& file(int number) const { return files_[static_cast<size_t>(number)]; }
  bool is_local() const { return is_local_; }

  // Records are added file by file. Their offsets are checked when they are read.
  void add(int file, int64_t offset, int64_t size);
  // Adds the records that are found in all files. With `keep_damaged`, an offset at which no record could be found is
  // added as a record that fails when it is read; otherwise it is an error.
  void search(FindRecords find, bool keep_damaged);
  int64_t size() const { return static_cast<int64_t>(records_.size()); }
  Place place(int64_t record) const;
  std::string describe(int64_t record) const;  // "a.tfrecord, record 17 at byte 1234"
  void name_needs(int64_t record, storage::Needs& needs) const;
  std::vector<int64_t> blocks() const;
  storage::ObjectPtr file_of(const Place& at, const storage::Fetched& fetched) const {
    return fetched.of(path(at.file), file(at.file));
  }

 private:
  struct Record {
    int64_t offset, size;
  };

  int64_t end_of(int64_t record, const Place& at) const;

  const std::vector<std::string> paths_;
  std::vector<storage::ObjectPtr> files_;
  bool is_local_ = true;
  std::vector<Record> records_;
  std::vector<int64_t> first_;  // the first record of each file
};

// A source whose samples are records.
class RecordsSource : public Source {
 public:
  explicit RecordsSource(RecordFiles records) : records_(std::move(records)) {}

  int64_t size() const override { return records_.size(); }
  std::string describe(int64_t index) const override { return records_.describe(index); }
  bool is_local() const override { return records_.is_local(); }
  void name_needs(int64_t index, storage::Needs& needs) const override { records_.name_needs(index, needs); }
  std::vector<int64_t> blocks() const override { return records_.blocks(); }

 protected:
  const RecordFiles records_;
};

// The pairs of integers in a text file: the form of index files. Errors name the file and the line.
void read_pairs(const std::string& path, const storage::Fetched& fetched,
                const std::function<void(int64_t, int64_t)>& pair);

// Reads short pieces of a file in ascending order; adjacent pieces share one read.
class FileWindow {
 public:
  explicit FileWindow(const storage::Object& file) : file_(file) {}
  // The piece must be within the file, and is valid until the next call.
  const char* at(int64_t offset, int64_t bytes);

 private:
  static constexpr int64_t kSize = 4096;

  const storage::Object& file_;
  int64_t begin_ = 0, end_ = 0;
  char window_[kSize];
};

}  // namespace avida
