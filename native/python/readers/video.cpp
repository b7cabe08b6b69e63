// Readers of videos: what belongs to an operator, and the indexes of videos.
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
#include "readers/video/video_args.h"
#include "readers/video/video_files.h"
#include "runtime/fork.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace avida::python {
namespace {

// An operator on images, with fixed arguments, that runs in the thread that decodes.
class OperatorFilter {
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

  const OpSpec& spec_;
  const std::shared_ptr<void> args_;
  std::pmr::vector<Meta> out_;
  mutable ThreadPool pool_{1};
  mutable ForkSafe<> mutex_{ForkAware::Rank::reader};
  mutable std::map<std::pair<int, int>, Extents> extents_;
};

struct FilterHandle {
  std::shared_ptr<const codecs::FrameFilter> filter;
};

// None unless all arguments are fixed, and so the same for every frame.
std::optional<FilterHandle> operator_filter(const std::string& name, const nb::dict& arguments) {
  const OpSpec& spec = op_at(find_op(name));
  std::shared_ptr<void> args = spec.args_type.copies(spec.default_args.get(), 1);
  for (const ArgSpec& arg : spec.args) {
    if (!arguments.contains(arg.name.c_str())) continue;
    const BoundArg bound = bind_arg(arg, arguments[arg.name.c_str()]);
    if (std::holds_alternative<ValuePtr>(bound)) return std::nullopt;
    if (auto value = std::get_if<ArgValue>(&bound)) arg.set(args.get(), *value);
  }
  using Extents = codecs::FrameFilter::Extents;
  const auto made = std::make_shared<const OperatorFilter>(spec, std::move(args));
  return FilterHandle{std::make_shared<const codecs::FrameFilter>(codecs::FrameFilter{
      [made](Extents frame) { return made->extents(frame); },
      [made](const uint8_t* frame, Extents extents, uint8_t* out) { made->run(frame, extents, out); }})};
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

const ConvertArgument filter("filter",
                             [](nb::handle object) -> std::any { return nb::cast<FilterHandle&>(object).filter; });
std::vector<double> times_of_clip(nb::handle clip) {
  std::vector<double> times;
  auto add = [&times](nb::handle time) {
    times.push_back(PyFloat_AsDouble(time.ptr()));
    if (PyErr_Occurred()) throw nb::python_error();
  };
  if (PyFloat_Check(clip.ptr()) || PyLong_Check(clip.ptr()))
    add(clip);
  else
    for (nb::handle time : clip) add(time);
  return times;
}

const ConvertArgument times("times", [](nb::handle clips) -> std::any {
  ClipTimes times;
  for (nb::handle clip : clips) times.push_back(times_of_clip(clip));
  return times;
});
const ConvertArgument indexes("indexes", [](nb::handle object) -> std::any { return nb::cast<VideoIndexes*>(object); });

const BindFormat video([](nb::module_& m) {
  nb::class_<FilterHandle>(m, "FrameFilter");
  m.def("operator_filter", &operator_filter, nb::arg("operator"), nb::arg("arguments"));
  nb::list patterns;
  for (auto& pattern : kVideoFiles) patterns.append(pattern);
  m.attr("VIDEO_FILES") = patterns;
  m.def("video_codecs", &codecs::video_codecs,
        "The common codecs of videos that this build decodes on the CPU, each with its library.");
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
});

}  // namespace
}  // namespace avida::python

namespace avida {

AVIDA_READER(VideoResize, ClassicVideoArgs) {
  declare_classic_video(reader);
  reader
      .doc(R"(Reads clips of videos and resizes their frames.

``readers.Video`` followed by :func:`avida.resize`, with the arguments of both.)")
      .extends("Video")
      .needs("FFmpeg")
      .takes_args_of("resize")
      .ignored("resize_z", "FloatArg | None")
      .example(R"(>>> import pathlib, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> frames = [b"FRAME\n" + bytes([16 * i] * 16 + [128] * 8) for i in range(6)]
>>> _ = pathlib.Path(folder.name, "a.y4m").write_bytes(b"YUV4MPEG2 W4 H4 F25:1\n" + b"".join(frames))
>>> reader = avida.readers.VideoResize(filenames=[folder.name + "/a.y4m"], sequence_length=2, size=[2, 3])
>>> for (clips,) in reader.next_epoch(batch_size=3):
...     print(clips.shape)
[(2, 2, 3, 3), (2, 2, 3, 3), (2, 2, 3, 3)])")
      .check(check_classic_video)
      .source(classic_video_source);
}

}  // namespace avida
