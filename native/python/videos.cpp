// Films and sound of files that stay open, for Python: from bytes, names in any store, and file objects.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <mutex>
#include <utility>

#include "codecs/audio/sound_track.h"
#include "codecs/video/media_info.h"
#include "codecs/video/video.h"
#include "ops/decode/video_frames.h"
#include "python/readers/readers.h"

namespace avida::python {
namespace {

// Bytes of Python, which stay as long as it does.
class HeldBytes : public storage::Object {
 public:
  explicit HeldBytes(nb::handle object) : HeldBytes(view_of(object)) {}
  ~HeldBytes() override {
    WithGil acquired;
    PyBuffer_Release(&view_);
  }
  void read_at(int64_t offset, void* to, int64_t bytes) const override {
    storage::BytesObject({static_cast<const uint8_t*>(view_.buf), static_cast<size_t>(view_.len)})
        .read_at(offset, to, bytes);
  }

 private:
  explicit HeldBytes(const Py_buffer& view) : Object(view.len), view_(view) {}
  static Py_buffer view_of(nb::handle object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE)) throw nb::python_error();
    return view;
  }
  mutable Py_buffer view_;
};

// A file object of Python, with seek() and read().
class PythonFile : public storage::Object {
 public:
  explicit PythonFile(nb::object file)
      : Object(size_of_file(file)), file_(std::make_shared<nb::object>(std::move(file))) {}
  ~PythonFile() override {
    WithGil acquired;
    file_.reset();
  }
  // read() may give less than it is asked for.
  void read_at(int64_t offset, void* to, int64_t bytes) const override {
    WithGil acquired;
    try {
      file_->attr("seek")(offset, 0);
      for (int64_t done = 0; done < bytes;) {
        const nb::object part = file_->attr("read")(bytes - done);
        Py_buffer view;
        if (PyObject_GetBuffer(part.ptr(), &view, PyBUF_SIMPLE)) throw nb::python_error();
        const int64_t got = view.len;
        if (got > 0 && got <= bytes - done) std::memcpy(static_cast<char*>(to) + done, view.buf, got);
        PyBuffer_Release(&view);
        if (got <= 0 || got > bytes - done)
          refuse("the file object gave ", got, " bytes where ", bytes - done, " are expected: it has changed");
        done += got;
      }
    } catch (nb::python_error& error) {
      const std::string message = error.what();
      error.restore();
      PyErr_Clear();
      refuse("the file object cannot be read: ", message);
    }
  }

 private:
  static int64_t size_of_file(const nb::object& file) {
    if (!nb::hasattr(file, "read") || !nb::hasattr(file, "seek"))
      fail(ErrorKind::type, "expected bytes, a path, a URL, or a file object with read() and seek(), got ",
           nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(file.ptr()))))));
    // Not all return the new position.
    const nb::object end = file.attr("seek")(0, 2);
    const auto size = nb::cast<int64_t>(end.is_none() ? file.attr("tell")() : end);
    if (size < 0) refuse("expected a file object whose end is at 0 or behind, got ", size);
    return size;
  }
  std::shared_ptr<nb::object> file_;
};

// What is read, and how errors call it.
struct Source {
  storage::ObjectPtr object;
  std::string name;

  template <class Function>
  auto naming(Function&& function) const {
    try {
      return function();
    } catch (const Error& error) {
      if (name.empty()) throw;
      throw Error(error.kind, str(name, ": ", error.message));
    }
  }
};

Source source_of(nb::object from) {
  if (nb::isinstance<nb::str>(from)) {
    const std::string name = path_of(from);
    const Interrupt interrupt = answer_signals();
    WithoutGil released;
    Source source{nullptr, name};
    source.object = source.naming([&] { return storage::open(name); });
    return source;
  }
  if (PyObject_CheckBuffer(from.ptr())) return {std::make_shared<HeldBytes>(from), ""};
  return {std::make_shared<PythonFile>(std::move(from)), ""};
}

nb::object ratio(const std::optional<codecs::Ratio>& value) {
  if (!value) return nb::none();
  return nb::make_tuple(value->numerator, value->denominator);
}

nb::dict stream_dict(const codecs::StreamInfo& info) {
  nb::dict dict;
  dict["number"] = info.number;
  dict["kind"] = info.kind;
  dict["codec"] = info.codec;
  dict["profile"] = info.profile;
  dict["language"] = info.language;
  dict["begin"] = info.begin;
  dict["duration"] = info.duration;
  dict["bit_rate"] = info.bit_rate;
  dict["frames"] = info.frames;
  dict["format"] = info.format;
  dict["bits"] = info.bits;
  dict["height"] = info.height;
  dict["width"] = info.width;
  dict["average_rate"] = ratio(info.average_rate);
  dict["exact_rate"] = ratio(info.exact_rate);
  dict["pixel_aspect"] = ratio(info.pixel_aspect);
  dict["matrix"] = info.matrix;
  dict["primaries"] = info.primaries;
  dict["transfer"] = info.transfer;
  dict["range"] = info.range;
  dict["rotation"] = info.rotation;
  dict["displayed"] = info.displayed;
  dict["rate"] = info.rate;
  dict["channels"] = info.channels;
  dict["layout"] = info.layout;
  return dict;
}

nb::dict media_dict(const codecs::MediaInfo& info) {
  nb::dict dict;
  dict["container"] = info.container;
  dict["duration"] = info.duration;
  dict["bit_rate"] = info.bit_rate;
  nb::list streams;
  for (const codecs::StreamInfo& stream : info.streams) streams.append(stream_dict(stream));
  dict["streams"] = streams;
  dict["best_video"] = info.best_video;
  dict["best_sound"] = info.best_sound;
  return dict;
}

nb::dict read_media_info(nb::object from) {
  const Source source = source_of(std::move(from));
  codecs::MediaInfo info;
  {
    WithoutGil released;
    info = source.naming(
        [&] { return codecs::media_info(codecs::MediaStream(source.object, {codecs::StreamKind::any, -1}).file()); });
  }
  return media_dict(info);
}

nb::bytes as_bytes(const std::vector<int64_t>& numbers) {
  return nb::bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int64_t));
}

// Without the GIL, which a file object may need to be read, and without other threads: reading opens a file again where
// it cannot go back.
template <class Function>
auto alone(std::mutex& mutex, Function&& function) {
  WithoutGil released;
  const std::lock_guard lock(mutex);
  return function();
}

// A video that stays open. One thread reads it at a time; others wait.
class OpenVideo {
 public:
  OpenVideo(nb::object from, int stream, int threads) : source_(source_of(std::move(from))) {
    WithoutGil released;
    source_.naming([&] {
      file_ = std::make_unique<codecs::VideoFile>(source_.object, nullptr,
                                                  codecs::StreamChoice{codecs::StreamKind::video, stream, true});
      file_->use_threads(threads);
    });
  }
  nb::dict info() const {
    return media_dict(alone(mutex_, [&] { return codecs::media_info(file_->stream().file()); }));
  }
  int stream() const {
    return alone(mutex_, [&] { return file_->stream().number(); });
  }
  // Times and durations of the frames, and the keyframes among them, as int64; their unit; the duration of the video.
  nb::tuple index() const {
    const codecs::VideoIndex& index = file_->index();
    std::vector<int64_t> keys;
    for (const codecs::VideoIndex::Key& key : index.keys) keys.push_back(key.frame);
    return nb::make_tuple(as_bytes(index.times), as_bytes(index.durations), as_bytes(keys), index.unit,
                          index.duration());
  }
  // The frames that decoders.video would give of such a part, with their times.
  nb::tuple choose(std::optional<double> start, std::optional<double> end, std::optional<double> fps,
                   std::optional<int> num_frames, std::optional<int> stride,
                   std::optional<std::vector<double>> times) const {
    ops::ClipFrames choice;
    choice.start = start, choice.end = end, choice.fps = fps;
    choice.num_frames = num_frames, choice.stride = stride, choice.times = std::move(times);
    choice.pad_mode = codecs::FramePadding::none;
    const std::vector<int64_t> frames = ops::frames_of(choice, file_->index(), "decoders.open_media", 0);
    return nb::make_tuple(frames, ops::times_of(frames, file_->index()));
  }
  double begin() const { return file_->index().begin(); }
  // Height and width of frames.
  nb::tuple extents(bool upright) const {
    const auto [height, width] = alone(mutex_, [&] { return file_->extents({.upright = upright}); });
    return nb::make_tuple(height, width);
  }
  // Into a dense buffer; on request with the colours of libswscale: the matrix of the file, and chroma repeated.
  void decode(const std::vector<int64_t>& frames, nb::object out, int element_bytes, bool like_swscale, bool tone_map,
              bool upright) {
    const DType dtype = element_bytes == 1 ? DType::uint8 : element_bytes == 2 ? DType::uint16 : DType::float32;
    const codecs::VideoRequest request{.file_matrix = like_swscale,
                                       .dtype = dtype,
                                       .tone_map = tone_map,
                                       .repeat_chroma = like_swscale,
                                       .upright = upright};
    Py_buffer view;
    if (PyObject_GetBuffer(out.ptr(), &view, PyBUF_WRITABLE)) throw nb::python_error();
    const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> guard(&view, PyBuffer_Release);
    alone(mutex_, [&] {
      const auto [height, width] = file_->extents(request);
      const int64_t bytes = std::ssize(frames) * height * width * 3 * size_of(dtype);
      if (view.len != bytes) refuse("expected a buffer of ", bytes, " bytes, got ", view.len);
      const uint8_t fill[3] = {};
      source_.naming([&] { codecs::decode_frames(*file_, frames, request, fill, view.buf); });
    });
  }

 private:
  const Source source_;
  mutable std::mutex mutex_;
  std::unique_ptr<codecs::VideoFile> file_;
};

// A sound track that stays open, as OpenVideo does.
class OpenSound {
 public:
  OpenSound(nb::object from, int stream) : source_(source_of(std::move(from))) {
    WithoutGil released;
    source_.naming([&] { track_ = std::make_unique<codecs::SoundTrack>(source_.object, stream); });
  }
  nb::dict info() const {
    return media_dict(alone(mutex_, [&] { return codecs::media_info(track_->file()); }));
  }
  int stream() const {
    return alone(mutex_, [&] { return track_->stream(); });
  }
  int rate() const { return track_->info().rate; }
  int channels() const { return track_->info().channels; }
  double begin() const { return track_->begin(); }
  // Frames [begin, end), or those of them that there are, interleaved as float32.
  nb::bytes read(int64_t begin, int64_t end) {
    std::vector<float> samples;
    alone(mutex_, [&] { source_.naming([&] { read_floats(begin, end, samples); }); });
    return nb::bytes(reinterpret_cast<const char*>(samples.data()), samples.size() * sizeof(float));
  }

 private:
  void read_floats(int64_t begin, int64_t end, std::vector<float>& samples) {
    track_->seek(begin);
    if (track_->info().floats) return track_->read_until(end, samples);
    std::vector<int32_t> integers;
    track_->read_until(end, integers);
    samples.reserve(integers.size());
    for (int32_t sample : integers) samples.push_back(static_cast<float>(sample) * 0x1p-31f);
  }

  const Source source_;
  mutable std::mutex mutex_;
  std::unique_ptr<codecs::SoundTrack> track_;
};

const BindFormat videos([](nb::module_& m) {
  m.def("media_info", &read_media_info, nb::arg("source"), "What the headers of a file say of its streams.");
  nb::class_<OpenVideo>(m, "OpenVideo")
      .def(nb::init<nb::object, int, int>(), nb::arg("source"), nb::arg("stream") = -1, nb::arg("threads") = 1)
      .def("info", &OpenVideo::info)
      .def_prop_ro("stream", &OpenVideo::stream)
      .def("index", &OpenVideo::index)
      .def_prop_ro("begin", &OpenVideo::begin)
      .def("choose", &OpenVideo::choose, nb::arg("start").none(), nb::arg("end").none(), nb::arg("fps").none(),
           nb::arg("num_frames").none(), nb::arg("stride").none(), nb::arg("times").none())
      .def("extents", &OpenVideo::extents, nb::arg("upright"))
      .def("decode", &OpenVideo::decode, nb::arg("frames"), nb::arg("out"), nb::arg("element_bytes"),
           nb::arg("like_swscale"), nb::arg("tone_map"), nb::arg("upright"));
  nb::class_<OpenSound>(m, "OpenSound")
      .def(nb::init<nb::object, int>(), nb::arg("source"), nb::arg("stream") = -1)
      .def("info", &OpenSound::info)
      .def_prop_ro("stream", &OpenSound::stream)
      .def_prop_ro("rate", &OpenSound::rate)
      .def_prop_ro("channels", &OpenSound::channels)
      .def_prop_ro("begin", &OpenSound::begin)
      .def("read", &OpenSound::read, nb::arg("begin"), nb::arg("end"));
});

}  // namespace
}  // namespace avida::python
