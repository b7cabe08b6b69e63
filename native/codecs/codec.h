// Codec: the interface that reads one image format. Codecs register themselves; a missing library costs one format.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codecs/limits.h"
#include "core/dtype.h"
#include "core/error.h"

namespace avida {
class ThreadPool;
}

namespace avida::codecs {

using Bytes = std::span<const uint8_t>;

// The meaning of a pixel's channels. `other`: any number of channels without a known meaning.
enum class ColorModel : uint8_t { gray, gray_alpha, rgb, rgb_alpha, bgr, ycbcr, other };

// The colours that a user requests, with the API's numbers. `indices`: the stored numbers of an image that has a
// palette or is gray.
enum class ImageType : int { rgb, bgr, gray, ycbcr, any, indices = 100 };

// An estimate of the bytes that decode() allocates besides its output, and in addition if it decodes a part.
struct Scratch {
  int64_t always = 0, per_pixel = 0;  // per_pixel: of the decoded pixels
  int64_t for_parts = 0, per_pixel_of_parts = 0;
};

struct ImageInfo {
  int height = 0, width = 0, channels = 0;  // as stored, before the orientation is applied
  DType dtype = DType::uint8;               // uint8, uint16 or float32; integers use the whole range of the type
  ColorModel color = ColorModel::rgb;
  int orientation = 1;  // in EXIF's numbers, 1 to 8
  int gray_bits = 0;    // how colours are converted to gray: in fixed point with 14 or 15 bits, or in floats (0)
  int index_bits = 0;   // of the stored numbers if ImageType::indices is available, 1 to 16; else 0
  Scratch scratch;
};

// A rectangle of the stored image, or of the downscaled one.
struct Roi {
  int y = 0, x = 0, height = 0, width = 0;
};

struct DecodeOptions {
  ImageType type = ImageType::rgb;
  bool fast_idct = false;      // JPEG: faster and less accurate
  int scale = 8;               // eighths of the stored size, 1 to 8; below 8 only for a codec that `scales`
  ThreadPool* pool = nullptr;  // whose idle threads may help with a large image
};

// Rows of pixels; `stride` is in bytes.
struct PixelRows {
  uint8_t* first;
  int64_t stride;
};

struct Codec {
  const char* name;               // for `avida info`: "PNG"
  const char* library;            // the library with its version: "libpng 1.6.39"
  bool (*matches)(Bytes);         // by the first bytes
  ImageInfo (*read_info)(Bytes);  // from the header only. Throws Error for an implausible header
  // The colours that decode() writes, as close to the request as the library can: info.color unless it converts.
  ColorModel (*decoded_color)(const ImageInfo&, const DecodeOptions&);
  // Writes the rectangle, with info.dtype and the channels of decoded_color(), and only that. Throws Error. The file
  // may have changed since read_info(): what decode() reads of the header itself is compared with `info` before it is
  // used.
  void (*decode)(Bytes, const ImageInfo&, const DecodeOptions&, const Roi&, const PixelRows& out);
  bool scales = false;  // decode() can downscale at less cost: DecodeOptions::scale
};

// The number of channels of a colour, in an image with `stored` channels.
constexpr int channels_of(ColorModel color, int stored) {
  switch (color) {
    case ColorModel::gray:
      return 1;
    case ColorModel::gray_alpha:
      return 2;
    case ColorModel::rgb:
    case ColorModel::bgr:
    case ColorModel::ycbcr:
      return 3;
    case ColorModel::rgb_alpha:
      return 4;
    case ColorModel::other:
      break;
  }
  return stored;
}

// Called from a static initialiser in the codec's file.
int register_codec(const Codec& codec);
std::span<const Codec> all_codecs();

// A supported sound format, for `avida info`; see audio.h.
struct AudioFormat {
  std::string name, library;
};
int register_audio_format(AudioFormat format);
std::span<const AudioFormat> audio_formats();

// The codec for a file's bytes. Throws Error for an empty file and for an unknown format.
const Codec& find_codec(Bytes file);
// Describes a file of `size` bytes by its first bytes, for messages about unknown formats.
std::string describe_unknown(Bytes beginning, int64_t size);

// For decode(): throws Error unless `found`, its own reading of the header, describes the image that was planned. The
// bytes may be foreign memory that another thread writes to.
void check_unchanged(const ImageInfo& planned, const ImageInfo& found, ImageType type);
constexpr const char* kChangedText = "the bytes of the file changed while it was decoded";

constexpr int kMaxExtent = 65535 * 4;
// Throws Error unless the extents are positive and within kMaxExtent and the limit of pixels.
void check_extents(int64_t height, int64_t width, int64_t channels);
// Throws Error if the file is too small for `pixel_bytes` bytes of pixels, in a format that compresses at most by
// `ratio`: a false header must not cost memory. Small images always pass.
void check_ratio(Bytes file, int64_t pixel_bytes, int64_t ratio);

}  // namespace avida::codecs
