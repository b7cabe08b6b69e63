#include "readers/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace avida {
namespace {

// Beyond so many open files, one is closed after its size is known, and opened again to be read.
constexpr int kMostOpen = 256;
std::atomic<int> open_files{0};

[[noreturn]] void fail_with(const char* what, int error) { fail(ErrorKind::runtime, what, ": ", std::strerror(error)); }

class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int get() const { return number_; }
  void open(const std::string& path) {
    if (number_ >= 0) return;
    // A named pipe would make a plain open wait for a writer. Only files that somebody has leased refuse the other.
    number_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (number_ < 0 && errno == EWOULDBLOCK) number_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (number_ < 0) fail_with("cannot be opened", errno);
    open_files++;
  }
  void close() {
    if (number_ < 0) return;
    ::close(std::exchange(number_, -1));
    open_files--;
  }

 private:
  int number_ = -1;
};

class OpenFile : public Source::Sample {
 public:
  OpenFile(std::string path, int32_t label, bool read_ahead) : path_(std::move(path)), label_(label) {
    file_.open(path_);
    struct stat info;
    if (fstat(file_.get(), &info) != 0) fail_with("cannot be read", errno);
    if (!S_ISREG(info.st_mode)) fail(ErrorKind::runtime, "expected a regular file");
    bytes_ = info.st_size;
    if (read_ahead) posix_fadvise(file_.get(), 0, 0, POSIX_FADV_WILLNEED);
    if (open_files >= kMostOpen) file_.close();
  }

  Shape shape(int output) const override { return {output == 0 ? bytes_ : 1}; }

  void read(int output, void* to) override {
    if (output == 1) {
      std::memcpy(to, &label_, sizeof(label_));
      return;
    }
    file_.open(path_);
    for (int64_t done = 0; done < bytes_;) {
      ssize_t n = ::read(file_.get(), static_cast<char*>(to) + done, bytes_ - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_with("cannot be read", errno);
      if (n == 0) fail(ErrorKind::runtime, "expected ", bytes_, " bytes, but the file ends after ", done);
      done += n;
    }
    file_.close();
  }

 private:
  std::string path_;
  int32_t label_;
  Descriptor file_;
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
