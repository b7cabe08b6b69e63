#include "readers/file.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/file.h"

namespace avida {
namespace {

// Beyond so many open files, one is closed after its size is known, and opened again to be read.
constexpr int kMostOpen = 256;
std::atomic<int> open_files{0};

class OpenFile : public Source::Sample {
 public:
  OpenFile(std::string path, int32_t label, bool read_ahead) : path_(std::move(path)), label_(label) {
    open();
    bytes_ = file_->size();
    if (read_ahead) file_->read_ahead();
    if (open_files >= kMostOpen) close();
  }
  ~OpenFile() override { close(); }

  Shape shape(int output) const override { return {output == 0 ? bytes_ : 1}; }

  void read(int output, void* to) override {
    if (output == 1) {
      std::memcpy(to, &label_, sizeof(label_));
      return;
    }
    if (!file_) open();
    file_->read(to, bytes_);
    close();
  }

 private:
  void open() {
    file_.emplace(path_);
    open_files++;
  }
  void close() {
    if (!file_) return;
    file_.reset();
    open_files--;
  }

  std::string path_;
  int32_t label_;
  std::optional<File> file_;
  int64_t bytes_ = 0;
};

class FileSource : public Source {
 public:
  FileSource(FileList files, bool read_ahead) : files_(std::move(files)), read_ahead_(read_ahead) {
    outputs_[0].dtype = DType::uint8;
    outputs_[1].dtype = DType::int32;
    for (auto& meta : outputs_) meta.ndim = 1;
  }
  const char* name() const override { return "readers.File"; }
  int64_t size() const override { return files_.size(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override { return files_.path(index); }
  std::unique_ptr<Sample> open(int64_t index) const override {
    return std::make_unique<OpenFile>(files_.path(index), files_.label(index), read_ahead_);
  }

 private:
  FileList files_;
  bool read_ahead_;
  std::vector<Meta> outputs_ = std::vector<Meta>(2);
};

}  // namespace

std::shared_ptr<Source> file_source(FileList files, bool read_ahead) {
  return std::make_shared<FileSource>(std::move(files), read_ahead);
}

}  // namespace avida
