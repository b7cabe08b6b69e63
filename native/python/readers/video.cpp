// Readers of videos: clips of frames.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "python/arguments.h"
#include "python/readers/readers.h"
#include "readers/video/video_files.h"
#include "readers/video/video_source.h"
#include "runtime/fork.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace avida::python {
namespace {

using codecs::Rounding;

struct VideoOptionsHandle {
  VideoOptions options;
};

void set_clips(VideoOptionsHandle& handle, int64_t length, int64_t step, int64_t stride, bool uniform,
               const std::string& pad_mode, const std::vector<int>& fill_value, bool is_classic) {
  handle.options.clips = {length, step, stride, uniform, codecs::frame_padding(pad_mode), is_classic};
  handle.options.fill_value = fill_value;
}

void set_bounds(VideoOptionsHandle& handle, bool in_frames, bool begin_up, bool end_up) {
  handle.options.bounds = {in_frames, begin_up ? Rounding::up : Rounding::down, end_up ? Rounding::up : Rounding::down};
}

void set_frames(VideoOptionsHandle& handle, int image_type, bool file_matrix, int dtype, bool normalized,
                std::optional<int> gpu) {
  handle.options.request = {static_cast<codecs::ImageType>(image_type), file_matrix};
  handle.options.dtype = static_cast<DType>(dtype);
  handle.options.normalized = normalized;
  handle.options.gpu = gpu;
}

// An operator on images, with fixed arguments, that runs in the thread that decodes.
class OperatorFilter : ForkAware {
 public:
  using Extents = codecs::FrameFilter::Extents;

  OperatorFilter(const OpSpec& spec, std::shared_ptr<void> args) : spec_(spec), args_(std::move(args)) {
    Meta in;
    in.dtype = DType::uint8;
    in.ndim = 3;
    in.layout = Layout("HWC");
    out_.push_back(in);
    Inference inference{{&in, 1}, args_.get(), out_, [](std::string_view) { return false; }};
    spec.infer(inference);
  }

  Extents extents(Extents frame) const {
    const std::pair key(frame.height, frame.width);
    {
      std::lock_guard lock(mutex_);
      if (auto known = extents_.find(key); known != extents_.end()) return known->second;
    }
    const Data made = make(allocate(int64_t{3} * frame.height * frame.width), frame);
    const Extents found{static_cast<int>(made.shapes.dims(0)[0]), static_cast<int>(made.shapes.dims(0)[1])};
    std::lock_guard lock(mutex_);
    return extents_.try_emplace(key, found).first->second;
  }

  void run(const uint8_t* frame, Extents extents, uint8_t* out) const {
    const Data made = make(Block(const_cast<uint8_t*>(frame), [](void*) {}), extents);
    std::memcpy(out, made.at(0), static_cast<size_t>(made.bytes(0)));
  }

 private:
  Data make(const Block& frame, Extents extents) const {
    Data in;
    in.dtype = DType::uint8;
    in.layout = Layout("HWC");
    in.shapes = ShapeList(1, 3);
    in.shapes.set(0, {extents.height, extents.width, 3});
    in.place(frame, frame.get(), 0);
    const Data* inputs[] = {&in};
    const CallArgs args(args_, 0);
    return spec_.run({.in = inputs, .samples = 1, .is_batch = false, .args = args, .out = out_, .pool = pool_}).at(0);
  }

  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool) override { mutex_.unlock(); }

  const OpSpec& spec_;
  const std::shared_ptr<void> args_;
  std::pmr::vector<Meta> out_;
  mutable ThreadPool pool_{1};
  mutable std::mutex mutex_;
  mutable std::map<std::pair<int, int>, Extents> extents_;
  ForkRegistration fork_{this, Rank::reader};
};

// Returns whether the arguments are fixed, so that the operator could be made a filter.
bool set_filter(VideoOptionsHandle& handle, const std::string& name, const nb::dict& arguments) {
  const OpSpec& spec = op_at(find_op(name));
  std::shared_ptr<void> args = spec.args_type.copies(spec.default_args.get(), 1);
  for (const ArgSpec& arg : spec.args) {
    if (!arguments.contains(arg.name.c_str())) continue;
    const BoundArg bound = bind_arg(arg, arguments[arg.name.c_str()]);
    if (std::holds_alternative<ValuePtr>(bound)) return false;
    if (auto value = std::get_if<ArgValue>(&bound)) arg.set(args.get(), *value);
  }
  using Extents = codecs::FrameFilter::Extents;
  const auto made = std::make_shared<const OperatorFilter>(spec, std::move(args));
  handle.options.filter = std::make_shared<const codecs::FrameFilter>(codecs::FrameFilter{
      [made](Extents frame) { return made->extents(frame); },
      [made](const uint8_t* frame, Extents extents, uint8_t* out) { made->run(frame, extents, out); }});
  return true;
}

void set_outputs(VideoOptionsHandle& handle, bool labels, int frame_numbers, bool timestamps) {
  handle.options.labels = labels;
  handle.options.frame_numbers = static_cast<FrameNumbers>(frame_numbers);
  handle.options.timestamps = timestamps;
}

SourceHandle make_source(const FileListHandle& files, const std::vector<std::pair<double, double>>& bounds,
                         const VideoOptionsHandle& handle, VideoIndexes* known) {
  std::vector<ClipBounds> parts;
  for (auto& [begin, end] : bounds) parts.push_back({begin, end});
  auto interrupt = answer_signals();
  WithoutGil released;
  return {video_source(*files.files, parts, handle.options, known, interrupt)};
}

// Adds the videos; returns the names of those that cannot be read, with the reasons.
std::vector<std::pair<nb::str, std::string>> read_indexes(VideoIndexes& indexes, const nb::list& videos) {
  auto interrupt = answer_signals();
  VideoFiles files(paths_of(videos));
  {
    WithoutGil released;
    files.read_indexes(&indexes, interrupt);
  }
  std::vector<std::pair<nb::str, std::string>> failed;
  for (size_t i = 0; i < files.size(); i++)
    if (!files.index(i)) failed.emplace_back(nb::borrow<nb::str>(videos[i]), files.error(i).message);
  return failed;
}

const BindFormat video([](nb::module_& m) {
  nb::class_<VideoOptionsHandle>(m, "VideoOptions")
      .def(
          "__init__",
          [](VideoOptionsHandle* self, const std::string& reader, bool refuse_variable_rate) {
            new (self) VideoOptionsHandle();
            self->options.reader = reader;
            self->options.refuse_variable_rate = refuse_variable_rate;
          },
          nb::arg("reader"), nb::arg("refuse_variable_rate"))
      .def("set_clips", &set_clips, nb::arg("length"), nb::arg("step"), nb::arg("stride"), nb::arg("uniform"),
           nb::arg("pad_mode"), nb::arg("fill_value"), nb::arg("is_classic"))
      .def("set_bounds", &set_bounds, nb::arg("in_frames"), nb::arg("begin_up"), nb::arg("end_up"))
      .def("set_frames", &set_frames, nb::arg("image_type"), nb::arg("file_matrix"), nb::arg("dtype"),
           nb::arg("normalized"), nb::arg("gpu").none())
      .def("set_filter", &set_filter, nb::arg("operator"), nb::arg("arguments"))
      .def("set_outputs", &set_outputs, nb::arg("labels"), nb::arg("frame_numbers"), nb::arg("timestamps"));
  nb::class_<VideoIndexes>(m, "VideoIndexes")
      .def(
          "__init__",
          [](VideoIndexes* self, const nb::str& path, const nb::bytes& content) {
            new (self) VideoIndexes(path_of(path), {static_cast<const uint8_t*>(content.data()), content.size()});
          },
          nb::arg("path"), nb::arg("content"))
      .def("read", &read_indexes, nb::arg("videos"))
      .def("content",
           [](const VideoIndexes& self) {
             const std::string content = self.content();
             return nb::bytes(content.data(), content.size());
           })
      .def_prop_ro("changed", &VideoIndexes::changed)
      .def_prop_ro("videos", &VideoIndexes::videos)
      .def_prop_ro("frames", &VideoIndexes::frames);
  m.def("video_source", &make_source, nb::arg("files"), nb::arg("bounds"), nb::arg("options"), nb::arg("known").none());
});

}  // namespace
}  // namespace avida::python
