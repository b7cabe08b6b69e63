// Readers of videos: clips of frames.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "python/readers/readers.h"
#include "readers/video/video_files.h"
#include "readers/video/video_source.h"

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
std::vector<std::pair<std::string, std::string>> read_indexes(VideoIndexes& indexes, std::vector<std::string> paths) {
  auto interrupt = answer_signals();
  WithoutGil released;
  VideoFiles files(std::move(paths));
  files.read_indexes(&indexes, interrupt);
  std::vector<std::pair<std::string, std::string>> failed;
  for (size_t i = 0; i < files.size(); i++)
    if (!files.index(i)) failed.emplace_back(files.path(i), files.error(i).message);
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
      .def("set_outputs", &set_outputs, nb::arg("labels"), nb::arg("frame_numbers"), nb::arg("timestamps"));
  nb::class_<VideoIndexes>(m, "VideoIndexes")
      .def(
          "__init__",
          [](VideoIndexes* self, const std::string& path, const nb::bytes& content) {
            new (self) VideoIndexes(path, {static_cast<const uint8_t*>(content.data()), content.size()});
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
