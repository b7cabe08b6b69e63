#include "operator/declare.h"
#include "runtime/file.h"

namespace avida::ops {
namespace {

std::string path_of(const SampleView& in) {
  std::string path(in.as<const char>(), static_cast<size_t>(in.bytes()));
  if (path.empty()) refuse("expected the path of a file, got no bytes");
  if (path.find('\0') != std::string::npos) refuse("expected the path of a file, got one with a zero byte");
  return path;
}

constexpr int kMostOpen = 128;  // of the files of a call

class ReadPlan {
 public:
  static constexpr bool takes_long = true;

  explicit ReadPlan(const Sample<NoArgs>& sample) : path_(path_of(sample.in[0])) {
    with_file([&](const File& file) { size_ = file.size(); });
    if (sample.index >= kMostOpen) file_.reset();
  }
  Shape shape() const { return {size_}; }
  void run(const Sample<NoArgs>& sample) const {
    with_file([&](const File& file) { file.read(sample.out[0].data, size_); });
    file_.reset();
  }

 private:
  // The path stands in the message, since the samples get their origins only after the call.
  template <class Fn>
  void with_file(Fn&& fn) const {
    try {
      if (!file_) file_.emplace(path_);
      fn(*file_);
    } catch (const Error& error) {
      throw Error(error.kind, str('"', path_, "\": ", error.message));
    }
  }

  const std::string path_;
  mutable std::optional<File> file_;  // open from the plan to the reading, unless there are too many
  int64_t size_ = 0;
};

std::vector<Data> read_files(const Run& run, const SampleLoop& loop) {
  std::vector<Data> results = run_samples(run, loop);
  std::vector<Origin> origins(run.samples);
  for (int i = 0; i < run.samples; i++) {
    SampleView in;
    input_views(run, i, {&in, 1});
    if (const Origins& known = run.in[0]->origins) origins[i] = (*known)[run.index_in(0, i)];
    origins[i].source = path_of(in);
  }
  results[0].origins = std::make_shared<const std::vector<Origin>>(std::move(origins));
  return results;
}

}  // namespace

AVIDA_OP_NAMED(io_file_read, "io.file.read", NoArgs) {
  op.doc("Reads whole files. The results keep their paths as source, which errors name.")
      .input("filepaths", "The paths as bytes: np.frombuffer(path.encode(), np.uint8).")
      .ignored("dont_use_mmap", false)
      .ignored("use_o_direct", false)
      .example("avida.io.file.read(np.frombuffer(avida.__file__.encode(), np.uint8))")
      .infer([](Infer<NoArgs>& call) {
        if (call.in[0].dtype != DType::uint8 || call.in[0].ndim != 1)
          refuse("expected the bytes of a path (uint8, one axis), got ", call.in[0].dtype, " with ", call.in[0].ndim,
                 " axes");
        call.out[0].ndim = 1;
        call.out[0].layout = {};
      })
      .takes_paths()
      .reads_files()
      .on_cpu()
      .each_sample<ReadPlan>();
  op.spec.run = [loop = op.spec.loop](const Run& run) { return read_files(run, *loop); };
}

}  // namespace avida::ops
