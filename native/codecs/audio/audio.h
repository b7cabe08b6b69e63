// Reads sound files with libsndfile: WAV, FLAC, Ogg (Vorbis and Opus), MP3, AIFF and whatever else that library reads.
#pragma once
#include <cstdint>
#include <memory>

#include "codecs/codec.h"
#include "storage/storage.h"

namespace avida::codecs {

struct AudioInfo {
  int64_t frames = 0;  // a frame has one sample for each channel
  int channels = 0;
  int rate = 0;         // frames per second
  bool floats = false;  // stored as floats, or in a lossy format that decodes to floats
};

// A sound file whose header has been read.
class AudioFile {
 public:
  explicit AudioFile(storage::ObjectPtr file);
  explicit AudioFile(Bytes file);  // the bytes must outlive it
  ~AudioFile();

  const AudioInfo& info() const;

  // Sets the frame that is read next.
  void seek(int64_t frame);
  // Reads the next frames. Floats range from -1 to 1, integers use the whole range of their type. Throws Error if the
  // file is truncated or damaged.
  void read(float* to, int64_t frames);
  void read(int16_t* to, int64_t frames);
  void read(int32_t* to, int64_t frames);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace avida::codecs
