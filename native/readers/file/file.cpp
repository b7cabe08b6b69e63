#include "readers/file/file.h"

#include <cstring>
#include <utility>

#include "readers/file/held_file.h"

namespace avida {
namespace {

class FileSample : public Source::Sample {
 public:
  FileSample(std::string path, int32_t label, bool read_ahead) : held_(std::move(path)), label_(label) {
    const File& file = held_.file();
    bytes_ = file.size();
    if (read_ahead) file.read_ahead();
    held_.close_if_many_are_open();
  }

  Shape shape(int output) const override { return {output == 0 ? bytes_ : 1}; }

  void read(int output, void* to) override {
    if (output == 1) {
      std::memcpy(to, &label_, sizeof(label_));
      return;
    }
    held_.file().read(to, bytes_);
    held_.close();
  }

 private:
  HeldFile held_;
  int32_t label_;
  int64_t bytes_ = 0;
};

class FileSource : public Source {
 public:
  FileSource(std::shared_ptr<const FileList> files, bool read_ahead)
      : files_(std::move(files)), read_ahead_(read_ahead) {
    outputs_[0].dtype = DType::uint8;
    outputs_[1].dtype = DType::int32;
    for (auto& meta : outputs_) meta.ndim = 1;
  }
  const char* name() const override { return "readers.File"; }
  int64_t size() const override { return files_->size(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override { return files_->path(index); }
  std::unique_ptr<Sample> open(int64_t index) const override {
    return std::make_unique<FileSample>(files_->path(index), files_->label(index), read_ahead_);
  }

 private:
  std::shared_ptr<const FileList> files_;
  bool read_ahead_;
  std::vector<Meta> outputs_ = std::vector<Meta>(2);
};

}  // namespace

std::shared_ptr<Source> file_source(std::shared_ptr<const FileList> files, bool read_ahead) {
  return std::make_shared<FileSource>(std::move(files), read_ahead);
}

}  // namespace avida
