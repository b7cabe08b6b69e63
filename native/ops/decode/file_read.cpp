#include "op/op.h"
#include "runtime/file.h"

namespace avida::ops {
namespace {

struct ReadArgs {
  bool dont_use_mmap = false, use_o_direct = false;
};

std::string path_of(const SampleView& in) {
  std::string path(in.as<const char>(), static_cast<size_t>(in.bytes()));
  if (path.empty()) fail(ErrorKind::runtime, "expected the path of a file, got no bytes");
  if (path.find('\0') != std::string::npos) fail(ErrorKind::runtime, "the path of a file cannot have a byte of zero");
  return path;
}

std::vector<Data> read_files(const Run& run) {
  SampleLoop loop;
  // The path stands in the message, since the samples get their origins only now.
  auto with_file = [](const SampleView& in, auto&& fn) {
    std::string path = path_of(in);
    try {
      fn(File(path));
    } catch (const Error& error) {
      throw Error(error.kind, str('"', path, "\": ", error.message));
    }
  };
  loop.shape = [=](SampleWork& work) {
    with_file(work.in[0], [&](const File& file) { work.out[0].shape = {file.size()}; });
  };
  loop.body = [=](const SampleWork& work) {
    with_file(work.in[0], [&](const File& file) { file.read(work.out[0].data, work.out[0].bytes()); });
  };
  std::vector<Data> results = run_samples(run, loop);
  std::vector<Origin> origins(run.samples);
  std::vector<SampleView> in(run.in.size());
  for (int i = 0; i < run.samples; i++) {
    input_views(run, i, in);
    if (const Origins& known = run.in[0]->origins) origins[i] = (*known)[run.index_in(0, i)];
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
