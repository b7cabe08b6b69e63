// Readers of videos: what belongs to an operator, and the indexes of videos.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "loops/decoding/frame_filter.h"
#include "python/arguments.h"
#include "python/readers/readers.h"
#include "readers/video/video_args.h"
#include "readers/video/video_files.h"

namespace avida::python {
namespace {

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
  return FilterHandle{frame_filter(spec, std::move(args))};
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
