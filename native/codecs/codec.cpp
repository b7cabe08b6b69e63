#include "codecs/codec.h"

#include <algorithm>
#include <utility>

#include "codecs/bytes.h"

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
  if (file.empty()) refuse("expected an image file, got no bytes");
  for (const Codec& codec : registry())
    if (codec.matches(file)) return codec;
  std::string names;
  for (const Codec& codec : registry()) names += str(names.empty() ? "" : ", ", codec.name);
  refuse("expected an image in a known format (", names, "), got ",
         describe_unknown(file, static_cast<int64_t>(file.size())));
}

void check_unchanged(const ImageInfo& planned, const ImageInfo& found, ImageType type) {
  const bool same_pixels = planned.channels == found.channels && planned.dtype == found.dtype;  // indices have others
  if (planned.height != found.height || planned.width != found.width || planned.index_bits != found.index_bits ||
      (type != ImageType::indices && !same_pixels))
    refuse(kChangedText);
}

std::string describe_unknown(Bytes beginning, int64_t size) {
  beginning = beginning.first(std::min<size_t>(beginning.size(), 64));
  std::string text(beginning.begin(), beginning.end());
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  if (text.starts_with("version https://git-lfs"))
    return "a git-LFS pointer in its place: fetch the file itself with `git lfs pull`";
  if (text.starts_with("<!doctype html") || text.starts_with("<html"))
    return "an HTML page: perhaps the answer of a server to a failed download";
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex, shown;
  for (uint8_t byte : beginning.first(std::min<size_t>(beginning.size(), 16))) {
    hex += {' ', kDigits[byte >> 4], kDigits[byte & 15]};
    shown += byte >= ' ' && byte <= '~' ? static_cast<char>(byte) : '.';
  }
  return str("a file of ", size, " bytes that begins with", hex, " (\"", shown, "\")");
}

void check_extents(int64_t height, int64_t width, int64_t channels) {
  if (height < 1 || width < 1 || channels < 1 || height > kMaxExtent || width > kMaxExtent || channels > 1024)
    refuse("expected 1 to ", kMaxExtent, " rows and columns and 1 to 1024 channels, the header declares ", height,
           " x ", width, " with ", channels, " channels");
  check_pixels(height, width);
}

void check_ratio(Bytes file, int64_t pixel_bytes, int64_t ratio) {
  constexpr int64_t kAlwaysAllowed = int64_t{16} << 20;
  if (pixel_bytes > kAlwaysAllowed && pixel_bytes / ratio > static_cast<int64_t>(file.size()))
    refuse("expected a file that can hold the ", pixel_bytes, " bytes of pixels that its header declares, got ",
           file.size(), " bytes");
}

}  // namespace avida::codecs
