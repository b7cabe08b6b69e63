#include "operator/declare.h"
#include "storage/fetched.h"

namespace avida::ops {
namespace {

std::string path_of(const SampleView& in) {
  std::string path(in.as<const char>(), static_cast<size_t>(in.bytes()));
  if (path.empty()) refuse("expected the path of a file, got no bytes");
  if (path.find('\0') != std::string::npos) refuse("expected the path of a file, got one with a zero byte");
  return path;
}

// No arguments of users: what was fetched for all samples of a call.
struct ReadArgs {
  std::shared_ptr<const storage::Fetched> fetched = std::make_shared<const storage::Fetched>();
};

class ReadPlan {
 public:
  static constexpr bool takes_long = true;

  explicit ReadPlan(const Sample<ReadArgs>& sample) : path_(path_of(sample.in[0])) {
    with_path([&] { file_ = sample.args.fetched->open(path_); });
    size_ = file_->size();
  }
  Shape shape() const { return {size_}; }
  void run(const Sample<ReadArgs>& sample) const {
    with_path([&] { file_->read_at(0, sample.out[0].data, size_); });
    file_.reset();
  }

 private:
  // The path stands in the message, since the samples get their origins only after the call.
  template <class Fn>
  void with_path(Fn&& fn) const {
    try {
      fn();
    } catch (const Error& error) {
      throw Error(error.kind, str('"', path_, "\": ", error.message));
    }
  }

  const std::string path_;
  mutable storage::ObjectPtr file_;  // from the plan to the reading
  int64_t size_ = 0;
};

std::vector<Data> read_files(const Run& run, const SampleLoop& loop) {
  std::vector<Origin> origins(run.samples);
  storage::Needs needs;
  for (int i = 0; i < run.samples; i++) {
    SampleView in;
    input_views(run, i, {&in, 1});
    if (const Origins& known = run.in[0]->origins) origins[i] = (*known)[run.index_in(0, i)];
    origins[i].source.assign(in.as<const char>(), static_cast<size_t>(in.bytes()));
    needs.whole(origins[i].source);
  }
  const CallArgs args(std::make_shared<ReadArgs>(std::make_shared<const storage::Fetched>(needs)), 0);
  std::vector<Data> results = run_samples({run.in, run.samples, run.is_batch, args, run.out, run.pool, run.random,
                                           run.keyed, run.frames, run.launches, run.results_in},
                                          loop);
  results[0].origins = std::make_shared<const std::vector<Origin>>(std::move(origins));
  return results;
}

}  // namespace

AVIDA_OP_NAMED(io_file_read, "io.file.read", ReadArgs) {
  op.doc("Reads whole files. The results keep their paths as source, which errors name.")
      .input("filepaths", "The paths as bytes: np.frombuffer(path.encode(), np.uint8).")
      .ignored("dont_use_mmap", false)
      .ignored("use_o_direct", false)
      .example("avida.io.file.read(np.frombuffer(avida.__file__.encode(), np.uint8))")
      .infer([](Infer<ReadArgs>& call) {
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
