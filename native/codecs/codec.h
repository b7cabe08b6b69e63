// One codec reads one image format. Codecs register themselves; a missing library costs its format only.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"

namespace avida::codecs {

using Bytes = std::span<const uint8_t>;

// What the numbers of a pixel mean. `other`: any number of channels without a known meaning.
enum class ColorModel : uint8_t { gray, gray_alpha, rgb, rgb_alpha, bgr, ycbcr, other };

// The colours that a user asks for, under the API's numbers.
enum class ImageType : int { rgb, bgr, gray, ycbcr, any };

struct ImageInfo {
  int height = 0, width = 0, channels = 0;  // as stored: before the orientation is applied
  DType dtype = DType::uint8;               // uint8, uint16 or float32; integers use the whole range of the type
  ColorModel color = ColorModel::rgb;
  int orientation = 1;  // as EXIF counts it, 1 to 8
  int gray_bits = 0;    // how colours are weighed to gray: in fixed point with 14 or 15 bits, or in floats (0)
};

// A rectangle of the stored image, or of the scaled one where it is scaled.
struct Roi {
  int y = 0, x = 0, height = 0, width = 0;
};

struct DecodeOptions {
  ImageType type = ImageType::rgb;
  bool fast_idct = false;  // JPEG: quicker and less exact
  int scale = 8;           // eighths of the stored size, 1 to 8; below 8 only for a codec that `scales`
};

// Pixels side by side in rows; `stride` counts bytes.
struct PixelRows {
  uint8_t* first;
  int64_t stride;
};

struct Codec {
  const char* name;               // as `avida info` shows it: "PNG"
  const char* library;            // what does the work, with its version: "libpng 1.6.39"
  bool (*matches)(Bytes);         // by the first bytes
  ImageInfo (*read_info)(Bytes);  // from the header alone: quick. Throws Error for a header that lies
  // The colours in which decode() writes, as near to what is wanted as the library can: info.color unless it converts.
  ColorModel (*decoded_color)(const ImageInfo&, const DecodeOptions&);
  // Writes the rectangle, with info.dtype and the channels of decoded_color(), and only that. Throws Error.
  void (*decode)(Bytes, const ImageInfo&, const DecodeOptions&, const Roi&, const PixelRows& out);
  bool scales = false;  // decode() can make a smaller image at less cost: DecodeOptions::scale
};

// How many channels pixels of that kind have, in an image with that many.
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

// For a static member of the codec's file.
int register_codec(const Codec& codec);
std::span<const Codec> all_codecs();

// A format of sound that can be read, for `avida info`; see audio.h.
struct AudioFormat {
  std::string name, library;
};
int register_audio_format(AudioFormat format);
std::span<const AudioFormat> audio_formats();

// The codec for a file's bytes. Throws Error for an empty file and for one that no codec knows.
const Codec& find_codec(Bytes file);

// Images larger than this are refused before any memory is taken: their headers lie, or nobody can use them.
constexpr int64_t kMaxPixels = int64_t{1} << 30;
constexpr int kMaxExtent = 65535 * 4;
// Throws Error unless the extents are positive and within the limits.
void check_extents(int64_t height, int64_t width, int64_t channels);
// Throws Error when pixels of that many bytes cannot come from the file, in a format that shrinks at most `ratio`
// times: a header that lies must not cost memory. Small images always pass.
void check_ratio(Bytes file, int64_t pixel_bytes, int64_t ratio);

}  // namespace avida::codecs
