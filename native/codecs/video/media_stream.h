// MediaStream: demuxes the packets of one stream of a file, video or sound, with libavformat, from any position.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "codecs/codec.h"
#include "codecs/video/video_index.h"
#include "storage/storage.h"

extern "C" {
struct AVFormatContext;
struct AVPacket;
struct AVStream;
}

namespace avida::codecs {

// The major version of libavformat: another one may give packets other times.
int demuxer_version();

// The text of an error code of FFmpeg.
std::string ffmpeg_error(int code);

// Which stream of a file: by its number, or the one that FFmpeg takes for the best.
enum class StreamKind { video, sound, any };
struct StreamChoice {
  StreamKind kind = StreamKind::video;
  int number = -1;
  bool durations = false;  // whether read_index() keeps how long each frame lasts
};

class MediaStream {
 public:
  explicit MediaStream(storage::ObjectPtr file, StreamChoice choice = {});
  ~MediaStream();
  MediaStream(const MediaStream&) = delete;

  const AVStream& stream() const { return *stream_; }
  int number() const;  // of the stream
  const AVFormatContext& file() const { return *format_; }

  // The next packet, which is valid until the next call; null at the end.
  const AVPacket* next();
  // Moves to the start, or so that next() returns the packet of this keyframe.
  void rewind();
  void seek(const VideoIndex::Key& key);

  // Reads all packets to find frames and keyframes. has_times is false where packets do not say when frames are shown.
  VideoIndex read_index();

 private:
  struct Io;
  void open();
  int choose() const;
  void check(int code, const char* what);
  bool skip_to(const VideoIndex::Key& key);

  const StreamChoice choice_;
  std::unique_ptr<Io> io_;
  AVFormatContext* format_ = nullptr;
  AVStream* stream_ = nullptr;
  AVPacket* packet_ = nullptr;
  bool has_packet_ = false;  // next() returns it again
};

}  // namespace avida::codecs
