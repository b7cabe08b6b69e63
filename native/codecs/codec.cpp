#include "codecs/codec.h"

#include <utility>

namespace avida::codecs {
namespace {

std::vector<Codec>& registry() {
  static std::vector<Codec> codecs;
  return codecs;
}

std::vector<AudioFormat>& audio_registry() {
  static std::vector<AudioFormat> formats;
  return formats;
}

}  // namespace

int register_codec(const Codec& codec) { return registry().push_back(codec), static_cast<int>(registry().size()); }

std::span<const Codec> all_codecs() { return registry(); }

int register_audio_format(AudioFormat format) {
  audio_registry().push_back(std::move(format));
  return static_cast<int>(audio_registry().size());
}

std::span<const AudioFormat> audio_formats() { return audio_registry(); }

const Codec& find_codec(Bytes file) {
  if (file.empty()) fail(ErrorKind::runtime, "expected an image file, got no bytes");
  for (const Codec& codec : registry())
    if (codec.matches(file)) return codec;
  std::string names;
  for (const Codec& codec : registry()) names += str(names.empty() ? "" : ", ", codec.name);
  fail(ErrorKind::runtime, "expected an image in a known format (", names, "), got ", file.size(),
       " bytes that begin like none of them");
}

void check_extents(int64_t height, int64_t width, int64_t channels) {
  if (height < 1 || width < 1 || channels < 1 || height > kMaxExtent || width > kMaxExtent || channels > 1024 ||
      height * width > kMaxPixels)
    fail(ErrorKind::runtime, "expected an image of at most ", kMaxPixels, " pixels, its header says ", height, " x ",
         width, " with ", channels, " channels");
}

void check_ratio(Bytes file, int64_t pixel_bytes, int64_t ratio) {
  constexpr int64_t kAlwaysAllowed = int64_t{16} << 20;
  if (pixel_bytes > kAlwaysAllowed && pixel_bytes / ratio > static_cast<int64_t>(file.size()))
    fail(ErrorKind::runtime, "expected a file that can hold the ", pixel_bytes,
         " bytes of pixels its header says, got ", file.size(), " bytes");
}

}  // namespace avida::codecs
