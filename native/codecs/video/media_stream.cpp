#include "codecs/video/media_stream.h"

#include <algorithm>
#include <utility>

#include "codecs/limits.h"
#include "codecs/video/mp4_boxes.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace avida::codecs {
namespace {

constexpr int kIoBytes = 64 << 10;
constexpr int64_t kMostFrames = int64_t{1} << 27;

// FFmpeg's messages go nowhere: errors are told by exceptions. No file makes it allocate a block of more than 2 GiB.
[[maybe_unused]] const bool quiet = [] {
  av_log_set_level(AV_LOG_QUIET);
  av_max_alloc(size_t{1} << 31);
  return true;
}();

// Reordered frames that are never shown: VP8 packs them into packets of their own.
bool is_hidden(const AVPacket& packet, AVCodecID codec) {
  return codec == AV_CODEC_ID_VP8 && packet.size > 0 && !(packet.data[0] >> 4 & 1);
}

// What is expected of a file, and of its streams.
struct What {
  const char *file, *stream;
  AVMediaType type;
};
constexpr What what(StreamKind kind) {
  switch (kind) {
    case StreamKind::video:
      return {"a video", "a video stream", AVMEDIA_TYPE_VIDEO};
    case StreamKind::sound:
      return {"a sound file", "a sound track", AVMEDIA_TYPE_AUDIO};
    case StreamKind::any:
      break;
  }
  return {"a video or sound", "a stream of video or sound", AVMEDIA_TYPE_UNKNOWN};
}

struct Timed {
  int64_t pts, dts, duration;
  bool key, shown;
};

}  // namespace

int demuxer_version() { return static_cast<int>(AV_VERSION_MAJOR(avformat_version())); }

std::string ffmpeg_error(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof(text));
  return text;
}

// The library's input, which it reads from an object.
struct MediaStream::Io {
  explicit Io(storage::ObjectPtr given) : object(storage::in_order(std::move(given))), size(object->size()) {}
  ~Io() {
    if (!context) return;
    av_freep(&context->buffer);
    avio_context_free(&context);
  }
  void open() {
    auto* buffer = static_cast<unsigned char*>(av_malloc(kIoBytes));
    if (buffer) context = avio_alloc_context(buffer, kIoBytes, 0, this, on_read, nullptr, on_seek);
    if (!context) {
      av_free(buffer);
      fail(ErrorKind::memory, "no memory to read a video");
    }
  }

  static int on_read(void* self, uint8_t* to, int bytes) {
    auto& io = *static_cast<Io*>(self);
    if (io.error) return AVERROR_EXTERNAL;
    if (io.position >= io.size) return AVERROR_EOF;
    bytes = static_cast<int>(std::min<int64_t>(bytes, io.size - io.position));
    try {
      io.object->read_at(io.position, to, bytes);
    } catch (...) {
      io.error = std::current_exception();
      return AVERROR_EXTERNAL;
    }
    io.position += bytes;
    return bytes;
  }
  static int64_t on_seek(void* self, int64_t offset, int whence) {
    auto& io = *static_cast<Io*>(self);
    whence &= ~AVSEEK_FORCE;
    if (whence == AVSEEK_SIZE) return io.size;
    int64_t base = whence == SEEK_CUR ? io.position : whence == SEEK_END ? io.size : 0, target;
    if (__builtin_add_overflow(base, offset, &target) || target < 0) return AVERROR(EINVAL);
    return io.position = target;
  }

  const storage::ObjectPtr object;
  const int64_t size;
  int64_t position = 0;
  std::exception_ptr error;  // an exception must not cross the library's frames
  AVIOContext* context = nullptr;
};

MediaStream::MediaStream(storage::ObjectPtr file, StreamChoice choice)
    : choice_(choice), io_(std::make_unique<Io>(std::move(file))) {
  if (io_->size == 0) refuse("expected ", what(choice.kind).file, ", got no bytes");
  try {
    packet_ = av_packet_alloc();
    if (!packet_) fail(ErrorKind::memory, "no memory to read a video");
    open();
  } catch (...) {
    av_packet_free(&packet_);
    avformat_close_input(&format_);
    throw;
  }
}

MediaStream::~MediaStream() {
  av_packet_free(&packet_);
  avformat_close_input(&format_);
}

void MediaStream::check(int code, const char* what) {
  if (io_->error) std::rethrow_exception(std::exchange(io_->error, nullptr));
  if (code >= 0) return;
  if (code == AVERROR(ENOMEM)) fail(ErrorKind::memory, what, ": it needs too much memory");
  refuse(what, ": ", ffmpeg_error(code));
}

void MediaStream::open() {
  check_boxes(*io_->object);
  io_->open();
  format_ = avformat_alloc_context();
  // No protocol is allowed: playlists would open other files.
  if (!format_ || !(format_->protocol_whitelist = av_strdup("none")))
    fail(ErrorKind::memory, "no memory to read a video");
  format_->pb = io_->context;
  format_->flags |= AVFMT_FLAG_CUSTOM_IO;
  // A failure frees the context and sets the pointer to null.
  int code = avformat_open_input(&format_, nullptr, nullptr, nullptr);
  if (code < 0 && !io_->error) {
    uint8_t beginning[64];
    const int64_t read = std::min<int64_t>(io_->size, sizeof(beginning));
    io_->object->read_at(0, beginning, read);
    refuse("expected ", what(choice_.kind).file, ", got ",
           describe_unknown({beginning, static_cast<size_t>(read)}, io_->size), " (", ffmpeg_error(code), ")");
  }
  const std::string failed = str("cannot be opened as ", what(choice_.kind).file);
  check(code, failed.c_str());
  check(avformat_find_stream_info(format_, nullptr), failed.c_str());
  stream_ = format_->streams[choose()];
  for (unsigned i = 0; i < format_->nb_streams; i++)
    if (format_->streams[i] != stream_) format_->streams[i]->discard = AVDISCARD_ALL;
  const AVCodecParameters& parameters = *stream_->codecpar;
  if (parameters.codec_type == AVMEDIA_TYPE_VIDEO) check_extents(parameters.height, parameters.width, 3);
}

int MediaStream::choose() const {
  const What expected = what(choice_.kind);
  const int count = static_cast<int>(format_->nb_streams);
  int number = choice_.number;
  if (number >= count) refuse("expected the number of a stream below ", count, ", got ", number);
  if (number >= 0) {
    const AVMediaType type = format_->streams[number]->codecpar->codec_type;
    if (choice_.kind == StreamKind::any || type == expected.type) return number;
    const char* name = av_get_media_type_string(type);
    refuse("expected ", expected.stream, ", stream ", number, " is one of ", name ? name : "unknown data");
  }
  if (choice_.kind != StreamKind::any)
    number = av_find_best_stream(format_, expected.type, -1, -1, nullptr, 0);
  else
    for (AVMediaType type : {AVMEDIA_TYPE_VIDEO, AVMEDIA_TYPE_AUDIO})
      if (number < 0) number = av_find_best_stream(format_, type, -1, -1, nullptr, 0);
  if (number < 0) refuse("expected ", expected.stream, ", the file has none");
  return number;
}

int MediaStream::number() const { return stream_->index; }

const AVPacket* MediaStream::next() {
  if (std::exchange(has_packet_, false)) return packet_;
  while (true) {
    av_packet_unref(packet_);
    int code = av_read_frame(format_, packet_);
    // A damaged end is where the video ends.
    if (code < 0) {
      check(0, "");
      return nullptr;
    }
    if (packet_->stream_index == stream_->index) return packet_;
  }
}

void MediaStream::rewind() {
  // Not every format can seek to its start.
  has_packet_ = false;
  avformat_close_input(&format_);
  io_ = std::make_unique<Io>(io_->object);
  open();
}

bool MediaStream::skip_to(const VideoIndex::Key& key) {
  while (const AVPacket* packet = next()) {
    if (packet->pts == key.pts && packet->dts == key.dts) return has_packet_ = true;
    if (key.dts != AV_NOPTS_VALUE && packet->dts != AV_NOPTS_VALUE && packet->dts > key.dts) return false;
  }
  return false;
}

void MediaStream::seek(const VideoIndex::Key& key) {
  has_packet_ = false;
  // Formats differ in whether they seek by presentation or by decoding times, and in whether they land exactly.
  for (int64_t time : {key.pts, key.dts}) {
    if (time == AV_NOPTS_VALUE) continue;
    if (av_seek_frame(format_, stream_->index, time, AVSEEK_FLAG_BACKWARD) >= 0 && skip_to(key)) return;
  }
  rewind();
  if (!skip_to(key)) refuse("a keyframe of the video was not found again: the file changed or is damaged");
}

VideoIndex MediaStream::read_index() {
  const AVCodecParameters& parameters = *stream_->codecpar;
  VideoIndex index;
  index.unit = av_q2d(stream_->time_base);
  index.height = parameters.height;
  index.width = parameters.width;
  std::vector<Timed> packets;
  while (const AVPacket* packet = next()) {
    if (static_cast<int64_t>(packets.size()) == kMostFrames) refuse("the video has more than ", kMostFrames, " frames");
    if (packet->pts == AV_NOPTS_VALUE) index.has_times = false;
    bool shown = !(packet->flags & AV_PKT_FLAG_DISCARD) && !is_hidden(*packet, parameters.codec_id);
    packets.push_back({packet->pts, packet->dts, packet->duration, (packet->flags & AV_PKT_FLAG_KEY) != 0, shown});
  }
  std::vector<std::pair<int64_t, int64_t>> shown;  // times and durations
  for (const Timed& packet : packets)
    if (packet.shown) shown.emplace_back(packet.pts, packet.duration);
  std::sort(shown.begin(), shown.end());
  for (const auto& [time, duration] : shown) {
    index.times.push_back(time);
    if (choice_.durations) index.durations.push_back(duration);
    index.last_duration = duration;
  }
  if (std::adjacent_find(index.times.begin(), index.times.end()) != index.times.end()) index.has_times = false;
  if (!index.has_times) return index;
  for (const Timed& packet : packets) {
    if (!packet.key) continue;
    auto frame = std::lower_bound(index.times.begin(), index.times.end(), packet.pts) - index.times.begin();
    index.keys.push_back({frame, packet.pts, packet.dts});
  }
  // Of keyframes before the first shown frame, as edit lists leave them, the last one serves.
  std::stable_sort(index.keys.begin(), index.keys.end(), [](auto& a, auto& b) { return a.pts < b.pts; });
  return index;
}

}  // namespace avida::codecs
