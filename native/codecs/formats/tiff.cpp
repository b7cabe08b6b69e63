// TIFF, with libtiff.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <memory>

#include "codecs/bytes.h"
#include "codecs/icc.h"

namespace avida::codecs {
namespace {

using namespace std::string_view_literals;

// A file in memory that libtiff has open, and the first error it reported.
class File {
 public:
  explicit File(Bytes bytes, int page = 0) : bytes_(bytes) {
    std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, this);
    TIFFOpenOptionsSetWarningHandlerExtR(
        options.get(), [](TIFF*, void*, const char*, const char*, va_list) { return 1; }, this);
    const auto most = std::max<tmsize_t>(256 << 20, static_cast<tmsize_t>(bytes.size()) * 4);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), std::clamp<tmsize_t>(decode_limits().memory, 1 << 20, most));
    handle_ = TIFFClientOpenExt("image", "r", this, read, write, seek, close, size, map, unmap, options.get());
    if (!handle_) fail_here("not a TIFF file");
    if (page) select(page);
  }
  ~File() { TIFFClose(handle_); }
  File(const File&) = delete;

  TIFF* handle() const { return handle_; }

  template <class T>
  T tag(uint32_t id, T otherwise = 0) const {
    T value = otherwise;
    return TIFFGetFieldDefaulted(handle_, id, &value) ? value : otherwise;
  }

  int64_t pages() const { return TIFFNumberOfDirectories(handle_); }

  [[noreturn]] void fail_here(const char* otherwise) const { refuse("TIFF: ", *message_ ? message_ : otherwise); }

 private:
  void select(int page) {
    if (page > 0 && TIFFSetDirectory(handle_, static_cast<tdir_t>(page))) return;
    const int64_t count = pages();
    TIFFClose(handle_);
    refuse("TIFF: expected pages from 0 to ", count - 1, ", got ", page);
  }

  static File& self(thandle_t handle) { return *static_cast<File*>(handle); }
  static int on_error(TIFF*, void* user, const char*, const char* format, va_list values) {
    auto& file = self(user);
    if (!*file.message_) std::vsnprintf(file.message_, sizeof(file.message_), format, values);
    return 1;
  }
  static tmsize_t read(thandle_t handle, void* to, tmsize_t size) {
    auto& file = self(handle);
    if (file.at_ >= file.bytes_.size()) return 0;
    size = std::min<tmsize_t>(size, file.bytes_.size() - file.at_);
    std::memcpy(to, file.bytes_.data() + file.at_, size);
    file.at_ += size;
    return size;
  }
  static tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t seek(thandle_t handle, toff_t to, int from) {
    auto& file = self(handle);
    file.at_ = to + (from == SEEK_CUR ? file.at_ : from == SEEK_END ? file.bytes_.size() : 0);
    return file.at_;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t handle) { return self(handle).bytes_.size(); }
  static int map(thandle_t handle, void** base, toff_t* size) {
    *base = const_cast<uint8_t*>(self(handle).bytes_.data());  // libtiff only reads there
    *size = self(handle).bytes_.size();
    return 1;
  }
  static void unmap(thandle_t, void*, toff_t) {}

  Bytes bytes_;
  uint64_t at_ = 0;
  char message_[200] = {};
  TIFF* handle_ = nullptr;
};

// How samples are stored and converted.
struct Header {
  ImageInfo info;
  int bits = 0, samples = 0, photometric = 0;  // samples per pixel
  bool planar = false, is_float = false, is_signed = false;
  bool converted = false;  // colours that libtiff converts to 8-bit RGBA
  bool tiled = false;
  bool whole_blocks = false;              // must be read to the end
  bool as_stored = false;                 // samples are not scaled
  int block_height = 0, block_width = 0;  // of a strip or a tile
};

// The maximum ratio of a compression.
int64_t ratio_of(int compression) {
  switch (compression) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_PACKBITS:
      return 64;
    case COMPRESSION_LZW:
      return 4096;
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
      return 1032;
    default:
      return 0;  // a uniform picture may be as small as it likes
  }
}

constexpr int kLinearRaw = 34892;  // of DNG

bool is_direct(int photometric) {
  switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_PALETTE:
    case PHOTOMETRIC_MASK:
    case PHOTOMETRIC_CFA:
    case kLinearRaw:
      return true;
    default:
      return false;
  }
}

void check_samples(const Header& header, int format) {
  const bool is_unsigned = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID;
  const int bits = header.bits;
  const bool is_known = header.is_float    ? bits == 16 || bits == 32 || bits == 64
                        : header.is_signed ? bits == 8 || bits == 16 || bits == 32
                                           : is_unsigned && bits >= 1 && bits <= 32;
  if (!is_known)
    refuse("TIFF: expected unsigned integers of 1 to 32 bits, signed ones of 8, 16 or 32, or floats, got ", bits,
           "-bit ",
           header.is_float    ? "floats"
           : header.is_signed ? "signed integers"
           : is_unsigned      ? "unsigned integers"
                              : "complex numbers");
}

DType dtype_of(const Header& header, bool has_palette) {
  if (header.is_float) return DType::float32;
  if (header.is_signed) return header.bits == 8 ? DType::int8 : header.bits == 16 ? DType::int16 : DType::int32;
  if (header.bits > 16) return DType::uint32;
  return header.bits > 8 || has_palette ? DType::uint16 : DType::uint8;
}

Header read_header(const File& file, Bytes bytes) {
  Header header;
  ImageInfo& info = header.info;
  TIFF* const tiff = file.handle();
  const int64_t width = file.tag<uint32_t>(TIFFTAG_IMAGEWIDTH), height = file.tag<uint32_t>(TIFFTAG_IMAGELENGTH);
  const int compression = file.tag<uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  const int format = file.tag<uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  header.bits = file.tag<uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  header.samples = file.tag<uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
  header.planar =
      file.tag<uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE && header.samples > 1;
  header.photometric =
      file.tag<uint16_t>(TIFFTAG_PHOTOMETRIC, header.samples < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  header.is_float = format == SAMPLEFORMAT_IEEEFP, header.is_signed = format == SAMPLEFORMAT_INT;
  check_extents(height, width, header.samples);
  if (!TIFFIsCODECConfigured(compression)) refuse("TIFF: compression ", compression, " is not supported");

  if (compression == COMPRESSION_JPEG && header.photometric == PHOTOMETRIC_YCBCR && !header.planar) {
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    header.photometric = PHOTOMETRIC_RGB;
  }
  header.converted = !is_direct(header.photometric);
  const bool has_palette = header.photometric == PHOTOMETRIC_PALETTE;
  constexpr ColorModel kColors[] = {ColorModel::gray, ColorModel::gray_alpha, ColorModel::rgb, ColorModel::rgb_alpha};
  info.height = static_cast<int>(height), info.width = static_cast<int>(width);
  info.channels = header.samples;
  if (header.converted) info.channels = header.photometric == PHOTOMETRIC_SEPARATED ? 4 : 3;
  if (has_palette) info.channels = 3;
  info.color = info.channels <= 4 ? kColors[info.channels - 1] : ColorModel::other;
  info.orientation = std::clamp<int>(file.tag<uint16_t>(TIFFTAG_ORIENTATION, 1), 1, 8);
  if (header.planar || info.orientation != 1) info.gray_bits = 14;
  if (!header.converted) {
    if (has_palette) header.is_signed = header.is_float = false;  // they are numbers of colours
    check_samples(header, format);
    if (has_palette && header.bits > 16) refuse("TIFF: expected a palette of at most 16 bits, got ", header.bits);
    info.dtype = dtype_of(header, has_palette);
  }
  header.tiled = TIFFIsTiled(tiff);
  // libtiff has a fast path for whole strips of this kind, which treats corrupt data differently.
  header.whole_blocks = compression == COMPRESSION_DEFLATE || compression == COMPRESSION_ADOBE_DEFLATE;
  const int64_t block_height = file.tag<uint32_t>(header.tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, UINT32_MAX);
  const int64_t block_width = header.tiled ? file.tag<uint32_t>(TIFFTAG_TILEWIDTH) : width;
  header.block_height = static_cast<int>(header.tiled ? block_height : std::min(block_height, height));
  header.block_width = static_cast<int>(block_width);
  check_extents(header.block_height, block_width, header.samples);
  const bool is_plain = !header.converted && !header.is_float && !header.is_signed && header.bits <= 16;
  if (header.samples == 1 && is_plain) info.index_bits = header.bits;
  const int64_t block_bytes =
      (block_width * (header.planar ? 1 : header.samples) * header.bits + 7) / 8 * header.block_height;
  // Strips of ordinary samples are decoded in place.
  const bool in_place = !header.tiled && !header.planar && !has_palette && !header.converted &&
                        header.photometric != PHOTOMETRIC_MINISWHITE && (header.samples == 1 || header.samples == 3) &&
                        header.bits == 8 * size_of(info.dtype);
  (in_place ? info.scratch.for_parts : info.scratch.always) = block_bytes;
  if (header.converted) info.scratch.always += 4 * height * width;
  const int64_t pixels = std::max(height * width, header.block_height * block_width);
  const int64_t stored_bits = std::max(1, header.samples * header.bits),
                pixel_size = info.channels * size_of(info.dtype);
  if (const int64_t ratio = ratio_of(compression))
    check_ratio(bytes, pixels * pixel_size, ratio * std::max<int64_t>(1, 8 * pixel_size / stored_bits));
  return header;
}

// Converts rows from libtiff to samples of T: packed bits, or numbers in native byte order.
template <class T>
class Unpacker {
 public:
  explicit Unpacker(const Header& header)
      : bits_(header.bits),
        is_float_(header.is_float),
        as_stored_(header.as_stored),
        most_(static_cast<uint32_t>((uint64_t{1} << std::min(header.bits, 32)) - 1)),
        inverted_(header.photometric == PHOTOMETRIC_MINISWHITE && !header.is_float && !header.is_signed) {}

  // The sample's bits as a number.
  uint32_t raw(const uint8_t* row, int64_t i) const {
    if (bits_ == 8) return row[i];
    if (bits_ == 16) return load<uint16_t>(row, i);
    if (bits_ == 32) return load<uint32_t>(row, i);
    uint32_t value = 0;
    for (int64_t bit = i * bits_, end = bit + bits_; bit < end;) {
      const int have = static_cast<int>(std::min<int64_t>(8 - bit % 8, end - bit));
      value = value << have | (row[bit / 8] >> (8 - bit % 8 - have) & ((1 << have) - 1));
      bit += have;
    }
    return value;
  }

  T sample(const uint8_t* row, int64_t i) const {
    if (is_float_) {
      if (bits_ == 64) return static_cast<T>(load<double>(row, i));
      return static_cast<T>(bits_ == 32 ? load<float>(row, i) : static_cast<float>(load<float16>(row, i)));
    }
    const uint32_t value = inverted_ ? most_ - raw(row, i) : raw(row, i);
    if (as_stored_ || std::is_signed_v<T>) return static_cast<T>(value);
    if constexpr (sizeof(T) == 4) return static_cast<T>(value << (32 - bits_));
    return static_cast<T>(bits_ <= 8 ? value * 255 / most_ : value << (16 - bits_));
  }

  // Whether rows can be copied without conversion.
  bool copies() const { return bits_ == 8 * sizeof(T) && !inverted_; }

 private:
  template <class U>
  static U load(const uint8_t* row, int64_t i) {
    U value;
    std::memcpy(&value, row + i * sizeof(U), sizeof(U));
    return value;
  }

  int bits_;
  bool is_float_, as_stored_;
  uint32_t most_;
  bool inverted_;
};

struct Palette {
  const uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  int factor = 1;  // 257 in old files, which have only 8 bits
};

Palette read_palette(const File& file, const Header& header) {
  Palette palette;
  uint16_t *red, *green, *blue;
  if (!TIFFGetField(file.handle(), TIFFTAG_COLORMAP, &red, &green, &blue))
    file.fail_here("expected a palette, found none");
  const int count = 1 << header.bits;
  const auto is_small = [count](const uint16_t* values) {
    return std::all_of(values, values + count, [](uint16_t value) { return value < 256; });
  };
  palette = {red, green, blue, is_small(red) && is_small(green) && is_small(blue) ? 257 : 1};
  return palette;
}

// Decodes the strips or tiles that the rectangle touches.
template <class T>
class BlockDecoder {
 public:
  BlockDecoder(const File& file, const Header& header, const Roi& roi, int channels, const PixelRows& out)
      : file_(file), header_(header), roi_(roi), channels_(channels), out_(out), unpacker_(header) {
    if (header.photometric == PHOTOMETRIC_PALETTE) palette_ = read_palette(file, header);
    stored_ = header.planar ? 1 : header.samples;
    row_size_ = (int64_t{header.block_width} * stored_ * header.bits + 7) / 8;
    const int64_t expected = header.tiled ? TIFFTileRowSize(file.handle()) : TIFFScanlineSize(file.handle());
    if (expected != row_size_) file.fail_here("the layout of the samples is not supported");
  }

  void run() {
    const int planes = header_.planar ? std::min(palette_.red ? 1 : channels_, header_.samples) : 1;
    for (int y = roi_.y / header_.block_height * header_.block_height; y < roi_.y + roi_.height;
         y += header_.block_height)
      for (int plane = 0; plane < planes; ++plane)
        for (int x = roi_.x / header_.block_width * header_.block_width; x < roi_.x + roi_.width;
             x += header_.block_width)
          decode_block(y, x, plane);
  }

 private:
  void decode_block(int block_y, int block_x, int plane) {
    const int top = std::max(block_y, roi_.y), bottom = std::min(block_y + header_.block_height, roi_.y + roi_.height);
    const int left = std::max(block_x, roi_.x), right = std::min(block_x + header_.block_width, roi_.x + roi_.width);
    const int block_bottom = std::min(block_y + header_.block_height, header_.info.height);
    const int rows = header_.tiled ? header_.block_height : (header_.whole_blocks ? block_bottom : bottom) - block_y;
    const int64_t size = row_size_ * rows;
    uint8_t* const first = out_.first + (top - roi_.y) * out_.stride;
    const bool in_place = !header_.tiled && rows == bottom - top && roi_.width == header_.info.width &&
                          out_.stride == row_size_ && stored_ == channels_ && !palette_.red && unpacker_.copies();
    if (in_place) return read_block(block_y, block_x, plane, first, size);
    block_.resize(size);
    read_block(block_y, block_x, plane, block_.data(), size);
    for (int y = top; y < bottom; ++y) {
      const uint8_t* row = block_.data() + (y - block_y) * row_size_;
      T* to = reinterpret_cast<T*>(out_.first + (y - roi_.y) * out_.stride) + int64_t{left - roi_.x} * channels_;
      unpack(row, left - block_x, right - left, plane, to);
    }
  }

  void read_block(int y, int x, int plane, uint8_t* to, int64_t size) {
    TIFF* const tiff = file_.handle();
    std::memset(to, 0, size);  // some decoders silently skip what they cannot decode
    const tmsize_t got = header_.tiled ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, plane), to, size)
                                       : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, y, plane), to, size);
    if (got != size) file_.fail_here("the file is truncated");
  }

  void unpack(const uint8_t* row, int64_t x, int64_t count, int plane, T* to) {
    if (palette_.red) {
      for (int64_t i = x; i < x + count; ++i, to += channels_) {
        const uint32_t index = unpacker_.raw(row, i * stored_);
        to[0] = static_cast<T>(palette_.red[index] * palette_.factor);
        to[1] = static_cast<T>(palette_.green[index] * palette_.factor);
        to[2] = static_cast<T>(palette_.blue[index] * palette_.factor);
      }
    } else if (header_.planar) {
      for (int64_t i = 0; i < count; ++i) to[i * channels_ + plane] = unpacker_.sample(row, x + i);
    } else if (stored_ == channels_ && unpacker_.copies()) {
      std::memcpy(to, row + x * stored_ * sizeof(T), count * stored_ * sizeof(T));
    } else {
      for (int64_t i = x; i < x + count; ++i)
        for (int c = 0; c < channels_; ++c) *to++ = unpacker_.sample(row, i * stored_ + c);
    }
  }

  const File& file_;
  const Header& header_;
  const Roi& roi_;
  int channels_;
  PixelRows out_;
  Unpacker<T> unpacker_;
  Palette palette_;
  int stored_;        // samples of a pixel in one block
  int64_t row_size_;  // of a block
  std::vector<uint8_t> block_;
};

// Colours that are neither gray nor RGB: libtiff converts whole images.
void decode_converted(const File& file, const Header& header, const Roi& roi, int channels, const PixelRows& out) {
  TIFFRGBAImage image;
  char message[1024] = {};
  if (!TIFFRGBAImageOK(file.handle(), message) || !TIFFRGBAImageBegin(&image, file.handle(), 1, message))
    refuse("TIFF: ", message);
  const std::unique_ptr<TIFFRGBAImage, decltype(&TIFFRGBAImageEnd)> guard(&image, TIFFRGBAImageEnd);
  image.req_orientation = image.orientation;  // as stored
  const int64_t width = header.info.width;
  std::vector<uint32_t> pixels(width * header.info.height);
  if (!TIFFRGBAImageGet(&image, pixels.data(), header.info.width, header.info.height))
    file.fail_here("the data is corrupt");
  for (int y = 0; y < roi.height; ++y) {
    uint8_t* to = out.first + y * out.stride;
    const uint32_t* from = pixels.data() + (roi.y + y) * width + roi.x;
    for (int x = 0; x < roi.width; ++x)
      for (int c = 0; c < channels; ++c) *to++ = static_cast<uint8_t>(from[x] >> 8 * c);
  }
}

class TiffFile : public ImageFile {
 public:
  explicit TiffFile(Bytes bytes, int page = 0)
      : ImageFile(bytes), file_(bytes, page), header_(read_header(file_, bytes)) {
    info_ = header_.info;
  }

  ImageDetails details() const override {
    ImageDetails details{.bits = header_.bits, .pages = file_.pages()};
    uint32_t size = 0;
    void* profile = nullptr;
    if (TIFFGetField(file_.handle(), TIFFTAG_ICCPROFILE, &size, &profile) && profile)
      details.profile = profile_name({static_cast<const uint8_t*>(profile), size});
    return details;
  }

  std::unique_ptr<const ImageFile> page(int number) const override {
    return std::make_unique<TiffFile>(bytes_, number);
  }

  // If only some channels are requested, the first ones are the colours.
  ColorModel color(const DecodeOptions& options) const override {
    const ImageInfo info = info_.for_type(options.type);
    if (options.type == ImageType::any) return info.color;
    return info.channels < 3 ? ColorModel::gray : ColorModel::rgb;
  }

  void decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const override {
    Header header = header_;
    if (options.type == ImageType::indices) header.as_stored = true, header.photometric = PHOTOMETRIC_MINISBLACK;
    const ImageInfo info = info_.for_type(options.type);
    const int channels = channels_of(color(options), info.channels);
    if (header.converted)
      decode_converted(file_, header, roi, channels, out);
    else
      decode_blocks(info.dtype, header, roi, channels, out);
  }

 private:
  void decode_blocks(DType dtype, const Header& header, const Roi& roi, int channels, const PixelRows& out) const {
    with_dtype(dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      if constexpr (sizeof(T) <= 4 && !std::is_same_v<T, bool> && !std::is_same_v<T, float16>)
        BlockDecoder<T>(file_, header, roi, channels, out).run();
    });
  }

  const File file_;
  const Header header_;
};

std::string library() {
  const std::string_view text = TIFFGetVersion();  // "LIBTIFF, Version 4.5.0\nCopyright ..."
  const size_t first = text.find_last_of(' ', text.find('\n')) + 1;
  return str("libtiff ", text.substr(first, text.find('\n') - first));
}

const int registered =
    register_codec({.name = "TIFF",
                    .endings = {".tif", ".tiff"},
                    .begins = {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv},
                    .library = library(),
                    .shared = "libtiff",
                    .license = "libtiff",
                    .can = {.parts = true, .indices = true, .alpha = true, .wide = true, .floats = true},
                    .open = open_as<TiffFile>});

}  // namespace
}  // namespace avida::codecs
