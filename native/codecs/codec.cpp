#include "codecs/codec.h"

#include <algorithm>
#include <utility>

#include "codecs/bytes.h"
#include "core/made_once.h"

namespace avida::codecs {
namespace {

std::vector<Codec>& registry() {
  static constinit MadeOnce<std::vector<Codec>> codecs;
  return codecs.get();
}

}  // namespace

ImageInfo ImageInfo::for_type(ImageType type) const {
  ImageInfo made = *this;
  if (type != ImageType::indices) return made;
  made.channels = 1;
  made.color = ColorModel::gray;
  made.dtype = index_bits > 8 ? DType::uint16 : DType::uint8;
  return made;
}

std::vector<std::string_view> CodecAbilities::names() const {
  const std::pair<bool, std::string_view> all[] = {{scales, "reduced sizes"}, {parts, "parts"},  {indices, "indices"},
                                                   {alpha, "alpha"},          {wide, "16 bits"}, {floats, "floats"}};
  std::vector<std::string_view> names;
  for (auto& [has, name] : all)
    if (has) names.push_back(name);
  return names;
}

int register_codec(Codec codec) {
  std::vector<Codec>& all = registry();
  all.insert(std::ranges::upper_bound(all, codec.name, {}, &Codec::name), std::move(codec));
  return static_cast<int>(all.size());
}

std::span<const Codec> all_codecs() { return registry(); }

std::vector<std::string_view> image_endings() {
  std::vector<std::string_view> endings;
  for (const Codec& codec : registry()) endings.insert(endings.end(), codec.endings.begin(), codec.endings.end());
  std::ranges::sort(endings);
  endings.erase(std::ranges::unique(endings).begin(), endings.end());
  return endings;
}

OpenedImage open_image(Bytes file) {
  if (file.empty()) refuse("expected an image file, got no bytes");
  for (const Codec& codec : registry()) {
    if (std::ranges::none_of(codec.begins, [file](std::string_view text) { return has_text(file, 0, text); })) continue;
    if (auto opened = codec.open(file)) return {codec, std::move(opened)};
  }
  std::string names;
  for (const Codec& codec : registry()) names += str(names.empty() ? "" : ", ", codec.name);
  refuse("expected an image in a known format (", names, "), got ",
         describe_unknown(file, static_cast<int64_t>(file.size())));
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
