#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "op/op.h"

namespace avida::ops {
namespace {

struct ReadArgs {
  bool dont_use_mmap = false, use_o_direct = false;
};

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) fail_with("cannot open it");
  }
  ~OpenFile() { close(file_); }
  OpenFile(const OpenFile&) = delete;

  int64_t size() const {
    struct stat status;
    if (fstat(file_, &status)) fail_with("cannot tell its size");
    if (!S_ISREG(status.st_mode)) fail(ErrorKind::runtime, "expected a file, \"", path_, "\" is something else");
    return status.st_size;
  }

  void read_all(char* out, int64_t size) const {
    for (int64_t done = 0; done < size;) {
      ssize_t got = read(file_, out + done, static_cast<size_t>(size - done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_with("cannot read it");
      if (got == 0) fail(ErrorKind::runtime, "\"", path_, "\" became shorter while it was read");
      done += got;
    }
  }

 private:
  [[noreturn]] void fail_with(const char* what) const {
    fail(ErrorKind::runtime, '"', path_, "\": ", what, ": ", std::strerror(errno));
  }
  std::string path_;
  int file_;
};

std::string path_of(const SampleView& in) {
  std::string path(in.as<const char>(), static_cast<size_t>(in.bytes()));
  if (path.empty()) fail(ErrorKind::runtime, "expected the path of a file, got no bytes");
  if (path.find('\0') != std::string::npos) fail(ErrorKind::runtime, "the path of a file cannot have a byte of zero");
  return path;
}

std::vector<Data> read_files(const Run& run) {
  SampleLoop loop;
  loop.shape = [](SampleWork& work) { work.out[0].shape = {OpenFile(path_of(work.in[0])).size()}; };
  loop.body = [](const SampleWork& work) {
    OpenFile(path_of(work.in[0])).read_all(work.out[0].as<char>(), work.out[0].bytes());
  };
  std::vector<Data> results = run_samples(run, loop);
  std::vector<Origin> origins(run.samples);
  std::vector<SampleView> in(run.in.size());
  for (int i = 0; i < run.samples; i++) {
    input_views(run, i, in);
    origins[i].source = path_of(in[0]);
  }
  results[0].origins = std::make_shared<const std::vector<Origin>>(std::move(origins));
  return results;
}

}  // namespace

AVIDA_OP_NAMED(io_file_read, "io.file.read", ReadArgs) {
  op.doc("Reads whole files; their bytes remember the path, so that errors can name it.")
      .input("filepaths", "The paths as bytes: np.frombuffer(path.encode(), np.uint8).")
      .arg("dont_use_mmap", &ReadArgs::dont_use_mmap, "How the file is read.", fixed | deprecated)
      .arg("use_o_direct", &ReadArgs::use_o_direct, "How the file is read.", fixed | deprecated)
      .example("avida.io.file.read(np.frombuffer(avida.__file__.encode(), np.uint8))")
      .infer([](Infer<ReadArgs>& call) {
        if (call.in[0].dtype != DType::uint8 || call.in[0].ndim != 1)
          fail(ErrorKind::runtime, "expected the bytes of a path (uint8, one axis), got ", call.in[0].dtype, " with ",
               call.in[0].ndim, " axes");
        call.out[0].ndim = 1;
        call.out[0].layout = {};
      })
      .custom(read_files);
}

}  // namespace avida::ops
