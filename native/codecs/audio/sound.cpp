#include "codecs/audio/sound.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "codecs/audio/audio.h"

namespace avida::codecs {
namespace {

OpenTrack open_track = nullptr;

bool has(Bytes file, size_t at, std::string_view text) {
  return file.size() >= at + text.size() &&
         std::string_view(reinterpret_cast<const char*>(file.data()) + at, text.size()) == text;
}

// Containers of films, and sound that libsndfile does not read but might take for something else.
bool is_track(Bytes file) {
  using namespace std::literals;
  for (std::string_view box : {"ftyp"sv, "moov"sv, "mdat"sv, "wide"sv, "free"sv, "skip"sv})
    if (has(file, 4, box)) return true;
  for (std::string_view begin :
       {"\x1a\x45\xdf\xa3"sv, "FLV\1"sv, "\x30\x26\xb2\x75"sv, "\x0b\x77"sv, "ADIF"sv, "\0\0\1\xba"sv})
    if (has(file, 0, begin)) return true;
  if (has(file, 0, "RIFF") && has(file, 8, "AVI ")) return true;
  if (has(file, 0, "OggS") && (has(file, 28, "\x80theora") || has(file, 28, "fishead"))) return true;
  if (has(file, 0, "G") && has(file, 188, "G")) return true;  // MPEG-TS, with and without a time before each packet
  if (has(file, 4, "G") && has(file, 196, "G")) return true;
  return file.size() > 2 && file[0] == 0xff && (file[1] & 0xf6) == 0xf0;  // AAC in ADTS
}

OpenedSound open_file(Bytes file, const SoundRange& range) {
  auto sound = std::make_unique<AudioFile>(file);
  const AudioInfo info = sound->info();
  return {std::move(sound), range.segment(info.rate, info.frames)};
}

OpenedSound open_with_ffmpeg(Bytes file, int stream, const SoundRange& range) {
  if (!open_track)
    refuse("this build of avida has no FFmpeg, which decodes sound tracks of films, AAC and AC-3, and `stream`");
  return open_track(std::make_shared<storage::BytesObject>(file), stream, range);
}

int64_t frame_at(double seconds, int rate) {
  constexpr double kMost = 0x1p53;
  return std::llround(std::min(seconds * rate, kMost));
}

}  // namespace

bool set_track_opener(OpenTrack open) {
  open_track = open;
  return true;
}

AudioSegment SoundRange::asked(int rate) const {
  if (!(start >= 0)) refuse("expected a start of at least 0 s, got ", start);
  if (!(end > start)) refuse("expected an end after the start, ", start, " s, got ", end);
  return {frame_at(start, rate), frame_at(end, rate)};
}

AudioSegment SoundRange::segment(int rate, int64_t frames) const {
  const AudioSegment wanted = asked(rate);
  if (wanted.begin > frames)
    refuse("expected a start within the sound, which has ", static_cast<double>(frames) / rate, " s, got ", start);
  return {wanted.begin, std::min(wanted.end, frames)};
}

OpenedSound open_sound(Bytes file, int stream, const SoundRange& range) {
  // libsndfile 1.2.0 gives Opus with another beginning than its header says.
  const bool is_opus = open_track && has(file, 0, "OggS") && has(file, 28, "OpusHead");
  if (stream >= 0 || is_opus || is_track(file)) return open_with_ffmpeg(file, stream, range);
  try {
    return open_file(file, range);
  } catch (const UnknownSound&) {
    if (!open_track || has(file, 0, "OggS") || file.empty()) throw;
    try {
      return open_with_ffmpeg(file, stream, range);
    } catch (const Error& error) {
      if (error.kind == ErrorKind::memory) throw;
    }
    throw;
  }
}

}  // namespace avida::codecs
