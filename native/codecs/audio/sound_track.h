// SoundTrack: decodes the sound of films and sound files with libavcodec: AAC, ALAC, Opus, AC-3, MP3, PCM and others.
#pragma once
#include <memory>
#include <vector>

#include "codecs/audio/sound.h"

struct AVFormatContext;

namespace avida::codecs {

// Frames as FFmpeg's decoders give them, one after the other: without what encoders put in front, and without what edit
// lists cut off. Not thread-safe.
class SoundTrack {
 public:
  explicit SoundTrack(storage::ObjectPtr file, int stream = -1);
  ~SoundTrack();

  const AudioInfo& info() const;  // without the number of frames, which only decoding tells
  int stream() const;
  const AVFormatContext& file() const;
  double begin() const;  // when the first frame is heard, in seconds on the clock of the file
  int64_t position() const;

  // Passes over frames, or begins again. Behind the end, it stays there.
  void seek(int64_t frame);
  // Appends the next frames to `to`, up to the frame with this number; fewer at the end. Integers of all depths use the
  // whole range of int32. The type is float if info().floats, else int32.
  void read_until(int64_t frame, std::vector<float>& to);
  void read_until(int64_t frame, std::vector<int32_t>& to);

 private:
  class Decoder;
  std::unique_ptr<Decoder> decoder_;
};

// The sound between two times in seconds on the clock of the file, with silence where the file has none.
std::unique_ptr<Sound> sound_between(storage::ObjectPtr file, int stream, double from, double to);

}  // namespace avida::codecs
