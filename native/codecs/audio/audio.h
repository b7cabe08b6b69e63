// Reads sound files with libsndfile: WAV, FLAC, Ogg (Vorbis and Opus), MP3, AIFF and whatever else that library reads.
#pragma once
#include <cstdint>
#include <memory>

#include "codecs/audio/sound.h"

namespace avida::codecs {

// A sound file whose header has been read.
class AudioFile : public Sound {
 public:
  explicit AudioFile(storage::ObjectPtr file);
  explicit AudioFile(Bytes file);  // the bytes must outlive it
  ~AudioFile() override;

  const AudioInfo& info() const override;

  void seek(int64_t frame) override;
  void read(float* to, int64_t frames) override;
  void read(int16_t* to, int64_t frames) override;
  void read(int32_t* to, int64_t frames) override;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace avida::codecs
