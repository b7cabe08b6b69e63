// PNG, with libpng, and ordinary files with libdeflate.
#include <bit>
#include <memory>

#include "codecs/bytes.h"
#include "codecs/exif.h"
#include "codecs/formats/apng.h"
#include "codecs/formats/png_reader.h"
#include "codecs/formats/whole_png.h"
#include "codecs/icc.h"

namespace avida::codecs {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr png_byte kTextChunks[] = "tEXt\0zTXt\0iTXt";

// The orientation in the eXIf chunk, which may come before or after the pixels.
int orientation_of(Bytes file) {
  for (size_t at = kSignature.size(); at + 8 <= file.size();) {
    const uint32_t size = big_endian(file, at, 4);
    if (size > file.size() - at - 8) break;
    if (has_text(file, at + 4, "eXIf")) return exif_orientation(file.subspan(at + 8, size));
    at += size_t{size} + 12;
  }
  return 1;
}

ImageInfo read_info(Bytes file) {
  if (!has_text(file, 12, "IHDR")) refuse("PNG: expected the header chunk first");
  const int64_t width = big_endian(file, 16, 4), height = big_endian(file, 20, 4);
  const uint32_t depth = big_endian(file, 24, 1), color_type = big_endian(file, 25, 1);
  ImageInfo info;
  switch (color_type) {
    case PNG_COLOR_TYPE_GRAY:
      info.color = ColorModel::gray, info.channels = 1;
      break;
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      info.color = ColorModel::gray_alpha, info.channels = 2;
      break;
    case PNG_COLOR_TYPE_RGB:
    case PNG_COLOR_TYPE_PALETTE:
      info.color = ColorModel::rgb, info.channels = 3;
      break;
    case PNG_COLOR_TYPE_RGB_ALPHA:
      info.color = ColorModel::rgb_alpha, info.channels = 4;
      break;
    default:
      refuse("PNG: expected a colour type of 0, 2, 3, 4 or 6, got ", color_type);
  }
  if (depth > 16 || !std::has_single_bit(depth)) refuse("PNG: expected 1, 2, 4, 8 or 16 bits, got ", depth);
  check_extents(height, width, info.channels);
  info.height = static_cast<int>(height), info.width = static_cast<int>(width);
  info.dtype = depth == 16 ? DType::uint16 : DType::uint8;
  const int stored_bits = depth * (color_type == PNG_COLOR_TYPE_PALETTE ? 1 : info.channels);
  const int64_t pixel_size = info.channels * size_of(info.dtype);
  check_ratio(file, height * width * pixel_size,
              1032 * (8 * pixel_size / stored_bits));  // the maximum ratio of deflate is 1032
  const bool has_palette = color_type == PNG_COLOR_TYPE_PALETTE;
  info.index_bits = has_palette || color_type == PNG_COLOR_TYPE_GRAY ? static_cast<int>(depth) : 0;
  const int64_t stored = png_bytes(height, width, stored_bits);
  if (file.size() > 28 && file[28] != PNG_INTERLACE_NONE)
    info.scratch.for_parts = height * width * pixel_size;
  else if (decode_whole_png && stored <= kMostWholePng)
    info.scratch.always = stored;
  info.orientation = orientation_of(file);
  return info;
}

class PngFile : public ImageFile {
 public:
  explicit PngFile(Bytes bytes) : ImageFile(bytes) { info_ = read_info(bytes); }
  ImageDetails details() const override;
  std::unique_ptr<Animation> animation() const override { return open_apng(bytes_, info_); }
  ColorModel color(const DecodeOptions& options) const override;
  void decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const override;
};

// The profile is compressed.
std::string profile_of(Bytes file) {
  PngReader reader(file);
  Bytes profile;
  reader.run([&](png_structp png, png_infop info) {
    png_set_read_fn(png, &reader, PngReader::read);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kTextChunks, 3);
    png_read_info(png, info);
    png_charp name;
    png_bytep data;
    png_uint_32 size;
    int compression;
    if (png_get_iCCP(png, info, &name, &compression, &data, &size)) profile = {data, size};
  });
  return profile_name(profile);
}

ImageDetails PngFile::details() const {
  return {.bits = static_cast<int>(big_endian(bytes_, 24, 1)),
          .frames = count_apng_frames(bytes_),
          .profile = profile_of(bytes_)};
}

ColorModel PngFile::color(const DecodeOptions& options) const {
  const ColorModel stored = info_.for_type(options.type).color;
  const bool is_gray = stored == ColorModel::gray || stored == ColorModel::gray_alpha;
  if (options.type == ImageType::any || options.type == ImageType::indices) return stored;
  if (is_gray || options.type == ImageType::gray) return ColorModel::gray;
  return options.type == ImageType::bgr ? ColorModel::bgr : ColorModel::rgb;
}

void PngFile::decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const {
  const ImageInfo info = info_.for_type(options.type);
  const ColorModel color = this->color(options);
  if (decode_whole_png && decode_whole_png(bytes_, info, options.type, color, roi, out)) return;
  const bool is_any = options.type == ImageType::any;
  const bool to_gray = color == ColorModel::gray && info.channels > 2;
  const int channels = channels_of(color, info.channels);
  const size_t pixel = channels * size_of(info.dtype), row_size = pixel * info.width;
  const bool whole_rows = roi.width == info.width;
  const bool to_end = roi.y + roi.height == info.height;
  PngReader reader(bytes_);
  bool interlaced = false;

  reader.run([&](png_structp png, png_infop png_info) {
    png_set_read_fn(png, &reader, PngReader::read);
    // Gamma and profiles matter only where libpng converts colours to gray.
    if (!to_gray) png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    // Compressed texts expand to 8 MB each.
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kTextChunks, 3);
    png_set_user_limits(png, kMaxExtent, kMaxExtent);
    png_read_info(png, png_info);
    if (options.type == ImageType::indices) {
      png_set_packing(png);  // a byte for each sample
    } else {
      png_set_expand_gray_1_2_4_to_8(png);
      png_set_palette_to_rgb(png);
    }
    if (!is_any || !(png_get_color_type(png, png_info) & PNG_COLOR_MASK_ALPHA)) png_set_strip_alpha(png);
    if (to_gray) png_set_rgb_to_gray_fixed(png, 1, 29900, 58700);
    if (color == ColorModel::bgr) png_set_bgr(png);
    if (std::endian::native == std::endian::little) png_set_swap(png);
    interlaced = png_set_interlace_handling(png) > 1;
    png_read_update_info(png, png_info);
    if (png_get_rowbytes(png, png_info) != row_size ||
        static_cast<int>(png_get_image_height(png, png_info)) != info.height)
      png_error(png, "the header contradicts itself");
  });

  // Interlaced images are decoded in passes over all rows; others row by row, up to the last row that is needed.
  const bool keep_all = interlaced && !(whole_rows && roi.height == info.height);
  const std::unique_ptr<uint8_t[]> kept(new uint8_t[row_size * (keep_all ? info.height : 1)]);
  uint8_t* const buffer = kept.get();
  std::unique_ptr<png_bytep[]> all_rows(new png_bytep[interlaced ? info.height : 1]);
  png_bytep* const rows = all_rows.get();
  const auto copy_row = [&](const uint8_t* from, int row) {
    std::memcpy(out.first + row * out.stride, from + pixel * roi.x, pixel * roi.width);
  };
  reader.run([&](png_structp png, png_infop) {
    if (interlaced) {
      for (int y = 0; y < info.height; ++y) rows[y] = keep_all ? buffer + y * row_size : out.first + y * out.stride;
      png_read_image(png, rows);
      for (int y = 0; keep_all && y < roi.height; ++y) copy_row(rows[roi.y + y], y);
    } else {
      for (int y = 0; y < roi.y; ++y) png_read_row(png, buffer, nullptr);
      for (int y = 0; y < roi.height; ++y) {
        png_read_row(png, whole_rows ? out.first + y * out.stride : buffer, nullptr);
        if (!whole_rows) copy_row(buffer, y);
      }
    }
    if (to_end || interlaced) png_read_end(png, nullptr);  // checks the rest of the compressed data
  });
}

const int registered = register_codec({.name = "PNG",
                                       .endings = {".png"},
                                       .begins = {kSignature},
                                       .library = "libpng " PNG_LIBPNG_VER_STRING,
                                       .shared = "libpng16",
                                       .license = "libpng-2.0",
                                       .can = {.parts = true, .indices = true, .alpha = true, .wide = true},
                                       .open = open_as<PngFile>});

}  // namespace
}  // namespace avida::codecs
