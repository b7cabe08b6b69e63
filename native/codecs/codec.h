// Codec: the declaration of an image format. Codecs register themselves; a missing library costs one format.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/choices.h"
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
AVIDA_CHOICES_WITH(ImageType, kImageType, "rgb", "bgr", "gray", "ycbcr", "any_data", {"indices", ImageType::indices})

// An estimate of the bytes that decode() allocates besides its output, and in addition if it decodes a part.
struct Scratch {
  int64_t always = 0, per_pixel = 0;  // per_pixel: of the decoded pixels
  int64_t for_parts = 0, per_pixel_of_parts = 0;
};

struct ImageInfo {
  int height = 0, width = 0, channels = 0;  // as stored, before the orientation is applied
  DType dtype = DType::uint8;  // an integer of up to 32 bits or float32; integers use the whole range of the type
  ColorModel color = ColorModel::rgb;
  int orientation = 1;  // in EXIF's numbers, 1 to 8
  int gray_bits = 0;    // how colours are converted to gray: in fixed point with 14 or 15 bits, or in floats (0)
  int index_bits = 0;   // of the stored numbers if ImageType::indices is available, 1 to 16; else 0
  Scratch scratch;

  // What decode() makes: indices are one channel of 8 or 16 bits.
  ImageInfo for_type(ImageType type) const;
};

// What decoding does not need to know: it is read when somebody asks for it.
struct ImageDetails {
  int bits = 8;         // of a channel, or of an index, as stored
  int64_t frames = 1;   // the pictures of an animation
  int64_t pages = 1;    // pictures by themselves, which may differ in all
  std::string profile;  // what the colour profile (ICC) of the file calls itself
};

// The pictures of an animation, one after the other, as browsers compose them.
class Animation {
 public:
  virtual ~Animation() = default;
  // The next picture: rows of red, green, blue and alpha, a byte each, without gaps; valid until the next call. Throws
  // Error where it is damaged, and behind the last one.
  virtual const uint8_t* next() = 0;
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

// A file whose header has been parsed. What was parsed stays here, from planning to decoding: values, and parts of the
// bytes. The bytes must outlive it. They may change, since they may be foreign memory, but not their number: kept
// values are safe to use, and what is read of the bytes again is checked again.
class ImageFile {
 public:
  virtual ~ImageFile() = default;
  ImageFile(const ImageFile&) = delete;

  Bytes bytes() const { return bytes_; }
  // Of the first page of several, or the first picture of an animation, which is what is decoded.
  const ImageInfo& info() const { return info_; }
  virtual ImageDetails details() const { return {.bits = static_cast<int>(8 * size_of(info_.dtype))}; }
  // Another page of the same file, from 0 on. Throws Error if there is none.
  virtual std::unique_ptr<const ImageFile> page(int number) const {
    refuse("expected page 0 of a file with one page, got ", number);
  }
  // Null: the file has one picture. The file must outlive it.
  virtual std::unique_ptr<Animation> animation() const { return {}; }
  // The colours that decode() writes, as close to the request as the library can.
  virtual ColorModel color(const DecodeOptions& options) const { return info_.for_type(options.type).color; }
  // Writes the rectangle, with the element type of info().for_type() and the channels of color(), and only that. Throws
  // Error. A library that reads the header itself may find another image by now: that is compared with info() before
  // anything is written.
  virtual void decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const = 0;

 protected:
  explicit ImageFile(Bytes bytes) : bytes_(bytes) {}

  const Bytes bytes_;
  ImageInfo info_;
};

// What files of a format may have, and what its codec does about it.
struct CodecAbilities {
  bool scales = false;   // downscales while decoding, at less cost: DecodeOptions::scale
  bool parts = false;    // a part costs less than the whole
  bool indices = false;  // gives stored numbers: ImageType::indices
  bool alpha = false;    // keeps an alpha channel for ImageType::any
  bool wide = false;     // more than 8 bits a channel
  bool floats = false;

  // Those that it has, for documentation: "parts".
  std::vector<std::string_view> names() const;
};

struct Codec {
  std::string_view name;                  // "PNG"
  std::vector<std::string_view> endings;  // of file names, in lower case: ".png"
  std::vector<std::string_view> begins;   // the first bytes of a file are one of these
  std::string library;                    // with its version: "libpng 1.6.39"; "avida" without one
  std::string_view shared;                // the library's file, up to ".so": "libpng16"; "" without one
  std::string_view license;               // of the library, an SPDX expression; "" without one
  CodecAbilities can;
  // Parses the header. Throws Error for an implausible one. Null: it is another format that begins alike.
  std::unique_ptr<const ImageFile> (*open)(Bytes);
};

// For Codec::open.
template <class File>
std::unique_ptr<const ImageFile> open_as(Bytes bytes) {
  return std::make_unique<File>(bytes);
}

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
int register_codec(Codec codec);
// By name.
std::span<const Codec> all_codecs();
// The endings of all formats, in order.
std::vector<std::string_view> image_endings();

struct OpenedImage {
  const Codec& codec;
  std::unique_ptr<const ImageFile> file;
};
// Throws Error for an empty file, for an unknown format and for what the codec refuses.
OpenedImage open_image(Bytes file);
// Describes a file of `size` bytes by its first bytes, for messages about unknown formats. Those of other programs are
// named.
std::string describe_unknown(Bytes beginning, int64_t size);

// Where a library finds another image than the one that was planned.
constexpr const char* kChangedText = "the bytes of the file changed while it was decoded";

constexpr int kMaxExtent = 65535 * 4;
// Throws Error unless the extents are positive and within kMaxExtent and the limit of pixels.
void check_extents(int64_t height, int64_t width, int64_t channels);
// Throws Error if the file is too small for `pixel_bytes` bytes of pixels, in a format that compresses at most by
// `ratio`: a false header must not cost memory. Small images always pass.
void check_ratio(Bytes file, int64_t pixel_bytes, int64_t ratio);

}  // namespace avida::codecs
