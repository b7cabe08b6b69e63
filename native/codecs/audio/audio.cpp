#include "codecs/audio/audio.h"

#include <sndfile.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "codecs/audio/audio_formats.h"
#include "codecs/audio/vorbis.h"
#include "core/clones.h"

namespace avida::codecs {

struct AudioFile::Handle {
  explicit Handle(storage::ObjectPtr given) : object(storage::in_order(std::move(given))), size(object->size()) {}
  ~Handle() {
    if (file) sf_close(file);
  }

  void open();
  // Opens the file if VorbisFile can read it.
  bool open_vorbis(Bytes bytes);
  // Opens it with the library, which finds out what is wrong with a packet, and goes on from the same frame.
  void leave_vorbis(int64_t frame);
  std::string describe();
  void seek(int64_t frame);
  int64_t usual_frames(int channels) const;
  void check_frames(int64_t claimed);
  template <class T>
  void read(sf_count_t (*function)(SNDFILE*, T*, sf_count_t), T* to, int64_t frames);
  void read_shorts(int16_t* to, int64_t frames);  // in the byte order of the file if they are plain
  void check_count(int64_t found, int64_t frames);

  // An exception must not cross the library's frames: it is stored here until they have returned.
  void rethrow() {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }
  static sf_count_t on_size(void* self) { return static_cast<Handle*>(self)->size; }
  static sf_count_t on_tell(void* self) { return static_cast<Handle*>(self)->position; }
  static sf_count_t on_seek(sf_count_t offset, int whence, void* self);
  static sf_count_t on_read(void* to, sf_count_t bytes, void* self);

  const storage::ObjectPtr object;
  const int64_t size;
  int64_t position = 0;
  std::exception_ptr error;
  SNDFILE* file = nullptr;
  std::unique_ptr<VorbisFile> vorbis;  // and then no SNDFILE
  AudioInfo info;
  bool shorts = false;   // stored as 16-bit integers
  bool plain = false;    // which are not compressed
  bool swapped = false;  // in the other byte order
};

sf_count_t AudioFile::Handle::on_seek(sf_count_t offset, int whence, void* self) {
  auto& handle = *static_cast<Handle*>(self);
  int64_t base = whence == SEEK_CUR ? handle.position : whence == SEEK_END ? handle.size : 0;
  int64_t target;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) return -1;
  return handle.position = target;
}

sf_count_t AudioFile::Handle::on_read(void* to, sf_count_t bytes, void* self) {
  auto& handle = *static_cast<Handle*>(self);
  bytes = std::min(bytes, handle.size - handle.position);
  if (bytes <= 0 || handle.error) return 0;
  try {
    handle.object->read_at(handle.position, to, bytes);
  } catch (...) {
    handle.error = std::current_exception();
    return 0;
  }
  handle.position += bytes;
  return bytes;
}

std::string AudioFile::Handle::describe() {
  uint8_t beginning[64];
  const int64_t read = std::min<int64_t>(size, sizeof(beginning));
  object->read_at(0, beginning, read);
  return describe_unknown({beginning, static_cast<size_t>(read)}, size);
}

void AudioFile::Handle::open() {
  if (size == 0) refuse("expected a sound file, got no bytes");
  SF_VIRTUAL_IO io{on_size, on_seek, on_read, nullptr, on_tell};
  SF_INFO found{};
  file = sf_open_virtual(&io, SFM_READ, &found, this);
  rethrow();
  if (!file)
    // The library has one global error text for all threads, which may belong to another file.
    throw UnknownSound(str("expected a sound file in a known format, got ", describe()));
  if (found.frames < 0 || found.channels < 1 || found.samplerate < 1)
    refuse("expected at least one channel and a sample rate above 0, the header declares ", found.channels,
           " channels, ", found.samplerate, " Hz and ", found.frames, " frames");
  int encoding = found.format & SF_FORMAT_SUBMASK;
  info.channels = found.channels;
  info.rate = found.samplerate;
  shorts = encoding == SF_FORMAT_PCM_16;
  const int container = found.format & SF_FORMAT_TYPEMASK;
  plain = shorts && (container == SF_FORMAT_WAV || container == SF_FORMAT_WAVEX || container == SF_FORMAT_AIFF ||
                     container == SF_FORMAT_AU);
  swapped = sf_command(file, SFC_RAW_DATA_NEEDS_ENDSWAP, nullptr, 0) == SF_TRUE;
  for (int lossy : {SF_FORMAT_FLOAT, SF_FORMAT_DOUBLE, SF_FORMAT_VORBIS, SF_FORMAT_OPUS, SF_FORMAT_MPEG_LAYER_I,
                    SF_FORMAT_MPEG_LAYER_II, SF_FORMAT_MPEG_LAYER_III})
    info.floats |= encoding == lossy;
  check_frames(found.frames);
}

bool AudioFile::Handle::open_vorbis(Bytes bytes) {
  auto opened = VorbisFile::open(bytes);
  if (!opened || opened->frames() > usual_frames(opened->channels())) return false;
  info = {opened->frames(), opened->channels(), opened->rate(), true};
  vorbis = std::move(opened);
  return true;
}

void AudioFile::Handle::leave_vorbis(int64_t frame) {
  vorbis.reset();
  open();
  seek(frame);
}

void AudioFile::Handle::seek(int64_t frame) {
  if (vorbis) {
    if (vorbis->position() != frame) leave_vorbis(frame);
    return;
  }
  if (frame == 0 && sf_seek(file, 0, SEEK_CUR) == 0) return;
  sf_count_t at = sf_seek(file, frame, SEEK_SET);
  rethrow();
  if (at != frame) refuse("cannot seek to frame ", frame, " of ", info.frames);
}

// What a file of this size may declare without being decoded to check it.
int64_t AudioFile::Handle::usual_frames(int channels) const {
  constexpr int64_t kAlwaysAllowed = int64_t{4} << 20, kUsualRatio = 32;
  return std::max(kAlwaysAllowed, size * kUsualRatio) / channels;
}

// A false header must not cost memory. Few files are compressed more than this; those are decoded once to count
// frames.
void AudioFile::Handle::check_frames(int64_t claimed) {
  constexpr int64_t kChunk = 4096;
  info.frames = claimed;
  if (claimed <= usual_frames(info.channels)) return;
  const bool unknown = claimed == SF_COUNT_MAX;  // as written by an encoder into a pipe
  const int64_t frame_bytes = info.channels * static_cast<int64_t>(sizeof(int16_t));
  if (!unknown) check_memory(claimed, frame_bytes);
  std::vector<float> chunk(kChunk * info.channels);
  int64_t frames = 0;
  while (sf_count_t n = sf_readf_float(file, chunk.data(), kChunk)) check_memory(frames += n, frame_bytes);
  rethrow();
  if (sf_error(file)) refuse("after ", frames, " frames of sound: ", sf_strerror(file));
  if (unknown)
    info.frames = frames;
  else if (frames < claimed)
    refuse("the header declares ", claimed, " frames, but the file contains ", frames);
  if (sf_seek(file, 0, SEEK_SET) != 0) refuse("cannot seek to the beginning of the sound");
  rethrow();
}

template <class T>
void AudioFile::Handle::read(sf_count_t (*function)(SNDFILE*, T*, sf_count_t), T* to, int64_t frames) {
  if (vorbis) leave_vorbis(vorbis->position());
  check_count(function(file, to, frames), frames);
}

void AudioFile::Handle::read_shorts(int16_t* to, int64_t frames) {
  if (!plain) return read(sf_readf_short, to, frames);
  const int64_t frame_bytes = info.channels * int64_t{sizeof(int16_t)};
  check_count(sf_read_raw(file, to, frames * frame_bytes) / frame_bytes, frames);
}

void AudioFile::Handle::check_count(int64_t found, int64_t frames) {
  rethrow();
  if (found == frames) return;
  const char* reason = sf_error(file) ? sf_strerror(file) : "the file ends early or is damaged";
  refuse("expected ", frames, " frames of sound, got ", found, ": ", reason);
}

namespace {

AVIDA_CLONES void to_floats(const int16_t* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = from[i] * (1.0f / 32768);
}
AVIDA_CLONES void swapped_to_floats(const int16_t* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    to[i] = static_cast<int16_t>(__builtin_bswap16(static_cast<uint16_t>(from[i]))) * (1.0f / 32768);
}

// The common formats that this build of the library supports.
int list_formats() {
  struct Known {
    int number;
    const char* name;
    std::vector<std::string_view> endings;
  };
  const Known known[] = {{SF_FORMAT_WAV, "WAV", {".wav"}},
                         {SF_FORMAT_FLAC, "FLAC", {".flac"}},
                         {SF_FORMAT_OGG, "Ogg", {".oga", ".ogg", ".opus"}},
                         {SF_FORMAT_MPEG, "MP3", {".mp3"}},
                         {SF_FORMAT_AIFF, "AIFF", {".aif", ".aiff"}}};
  std::string library = sf_version_string();  // "libsndfile-1.2.0"
  std::replace(library.begin(), library.end(), '-', ' ');
  int count = 0;
  sf_command(nullptr, SFC_GET_FORMAT_MAJOR_COUNT, &count, sizeof(count));
  for (auto& [number, name, endings] : known)
    for (int i = 0; i < count; i++) {
      SF_FORMAT_INFO format{};
      format.format = i;
      sf_command(nullptr, SFC_GET_FORMAT_MAJOR, &format, sizeof(format));
      if (format.format == number) audio_formats().push_back({name, library, endings});
    }
  return count;
}

[[maybe_unused]] const int listed = list_formats();

}  // namespace

// Opened after its owner exists, which closes it if opening throws.
AudioFile::AudioFile(storage::ObjectPtr file) : handle_(std::make_unique<Handle>(std::move(file))) { handle_->open(); }

AudioFile::AudioFile(Bytes file) : handle_(std::make_unique<Handle>(std::make_shared<storage::BytesObject>(file))) {
  if (!handle_->open_vorbis(file)) handle_->open();
}

AudioFile::~AudioFile() = default;

const AudioInfo& AudioFile::info() const { return handle_->info; }

void AudioFile::seek(int64_t frame) { handle_->seek(frame); }

void AudioFile::read(float* to, int64_t frames) {
  if (handle_->vorbis) {
    const int64_t at = handle_->vorbis->position();
    if (handle_->vorbis->read(to, frames) == frames) return;
    handle_->leave_vorbis(at);
  }
  if (!handle_->shorts) return handle_->read(sf_readf_float, to, frames);
  // The library would convert and swap element by element.
  constexpr int64_t kChunk = 8192;
  int16_t chunk[kChunk];
  const int channels = handle_->info.channels;
  for (int64_t step = kChunk / channels, n; frames > 0; frames -= n, to += n * channels) {
    n = std::min(frames, step);
    handle_->read_shorts(chunk, n);
    (handle_->plain && handle_->swapped ? swapped_to_floats : to_floats)(chunk, to, n * channels);
  }
}
void AudioFile::read(int16_t* to, int64_t frames) { handle_->read(sf_readf_short, to, frames); }
void AudioFile::read(int32_t* to, int64_t frames) { handle_->read(sf_readf_int, to, frames); }

}  // namespace avida::codecs
