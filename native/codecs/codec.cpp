#include "codecs/codec.h"

#include <algorithm>
#include <utility>

#include "codecs/bytes.h"
#include "core/made_once.h"

namespace avida::codecs {

using namespace std::string_view_literals;

namespace {

std::vector<Codec>& registry() {
  static constinit MadeOnce<std::vector<Codec>> codecs;
  return codecs.get();
}

// A format by bytes at a place near the beginning.
struct KnownFormat {
  std::string_view name, bytes;
  size_t at = 0;
};

// What users have, and one of the decoders, or all of them, do not read.
constexpr KnownFormat kKnownFormats[] = {
    {"AVIF", "ftypavif", 4},
    {"AVIF", "ftypavis", 4},
    {"HEIC", "ftyphei", 4},
    {"HEIC", "ftyphevc", 4},
    {"HEIF", "ftypmif1", 4},
    {"HEIF", "ftypmsf1", 4},
    {"a Canon raw file", "ftypcrx", 4},
    {"MP4 or QuickTime", "ftyp", 4},
    {"JPEG XL", "\xFF\x0A"},
    {"JPEG XL", "JXL \r\n", 4},
    {"JPEG XR", "II\xBC"},
    {"GIF", "GIF8"},
    {"JPEG", "\xFF\xD8\xFF"},
    {"PNG", "\x89PNG"},
    {"TIFF", "II*\0"sv},
    {"TIFF", "MM\0*"sv},
    {"WebP", "WEBP", 8},
    {"JPEG 2000", "jP  ", 4},
    {"Photoshop", "8BPS"},
    {"OpenEXR", "\x76\x2F\x31\x01"},
    {"Radiance HDR", "#?R"},
    {"DirectDraw", "DDS "},
    {"QOI", "qoif"},
    {"DICOM", "DICM", 128},
    {"PDF", "%PDF-"},
    {"SVG", "<svg"},
    {"XML", "<?xml"},
    {"NumPy (.npy)", "\x93NUMPY"},
    {"WAV", "WAVE", 8},
    {"AVI", "AVI ", 8},
    {"FLAC", "fLaC"},
    {"Ogg", "OggS"},
    {"MP3", "ID3"},
    {"Matroska or WebM", "\x1A\x45\xDF\xA3"},
    {"HDF5", "\x89HDF"},
    {"Parquet", "PAR1"},
    {"a zip archive", "PK\3\4"},
    {"gzip", "\x1F\x8B"},
    {"a tar archive", "ustar", 257},
};

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
  const auto* known = std::ranges::find_if(
      kKnownFormats, [beginning](const KnownFormat& format) { return has_text(beginning, format.at, format.bytes); });
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
  const std::string name = known == std::end(kKnownFormats) ? "" : str(known->name, ": ");
  return str(name, "a file of ", size, " bytes that begins with", hex, " (\"", shown, "\")");
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
