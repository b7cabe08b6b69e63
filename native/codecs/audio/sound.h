// Sound: what is decoded of a sound file or a sound track, whatever library does it.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "codecs/codec.h"
#include "storage/storage.h"

namespace avida::codecs {

struct AudioInfo {
  int64_t frames = 0;  // a frame has one sample for each channel
  int channels = 0;
  int rate = 0;         // frames per second
  bool floats = false;  // stored as floats, or in a lossy format that decodes to floats
};

class Sound {
 public:
  virtual ~Sound() = default;

  virtual const AudioInfo& info() const = 0;

  // Sets the frame that is read next.
  virtual void seek(int64_t frame) = 0;
  // Reads the next frames. Floats range from -1 to 1, integers use the whole range of their type. Throws Error if the
  // file is truncated or damaged.
  virtual void read(float* to, int64_t frames) = 0;
  virtual void read(int16_t* to, int64_t frames) = 0;
  virtual void read(int32_t* to, int64_t frames) = 0;
};

// Frames of a file: [begin, end).
struct AudioSegment {
  int64_t begin, end;
};

// Seconds of a sound, from its first frame on.
struct SoundRange {
  double start = 0, end = std::numeric_limits<double>::infinity();

  // Its frames, which may go beyond the end, and of so many in all. Throws for a range that cannot be.
  AudioSegment asked(int rate) const;
  AudioSegment segment(int rate, int64_t frames) const;
};

// A sound, and the part of it that was asked for.
struct OpenedSound {
  std::unique_ptr<Sound> sound;
  AudioSegment segment;
};

// What libsndfile takes for no sound that it knows.
struct UnknownSound : Error {
  explicit UnknownSound(std::string message) : Error(ErrorKind::runtime, std::move(message)) {}
};

// FFmpeg opens the tracks of films: the file over it gives its function when the library is loaded.
using OpenTrack = OpenedSound (*)(storage::ObjectPtr file, int stream, const SoundRange& range);
bool set_track_opener(OpenTrack open);

// From bytes, which must outlive it. `stream` is the number of a stream of the file, or -1: the best sound.
OpenedSound open_sound(Bytes file, int stream, const SoundRange& range);

}  // namespace avida::codecs
