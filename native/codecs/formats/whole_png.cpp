// libdeflate expands a whole stream at once, twice as fast as zlib, which can stop and go on. What is rare stays with
// libpng: interlaced files, gray of colours, and whatever is not as the standard says.
#include "codecs/formats/whole_png.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>

#include "codecs/bytes.h"
#include "codecs/formats/pixel_bytes.h"
#include "codecs/formats/png_filters.h"
#include "runtime/memory.h"

namespace avida::codecs {
namespace {

constexpr size_t kSignatureSize = 8, kHeaderEnd = 33;
constexpr uint32_t kMostChunk = 8'000'000;  // libpng refuses longer ones, but for pixels

enum ColorType : uint8_t { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgbAlpha = 6 };

struct Chunk {
  std::string_view kind;
  Bytes content;

  bool is_good() const {
    const uint8_t* kind_and_content = content.data() - 4;
    return libdeflate_crc32(0, kind_and_content, content.size() + 4) ==
           big_endian({content.data(), content.size() + 4}, content.size(), 4);
  }
  bool has_plain_name() const {
    return std::ranges::all_of(kind, [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; });
  }
  bool is_critical() const { return !(kind[0] & 32); }
};

// The chunk at this place; nothing if it is cut off.
std::optional<Chunk> chunk_at(Bytes file, size_t at) {
  if (file.size() < 12 || at > file.size() - 12) return {};
  const uint32_t size = big_endian(file, at, 4);
  if (size > file.size() - at - 12) return {};
  return Chunk{{reinterpret_cast<const char*>(file.data()) + at + 4, 4}, file.subspan(at + 8, size)};
}

int channels_of_type(int color_type) {
  return color_type == kRgb ? 3 : color_type == kRgbAlpha ? 4 : color_type == kGrayAlpha ? 2 : 1;
}

// What a file declares, and where its parts are.
struct Parts {
  int64_t width = 0, height = 0;
  int depth = 0, color_type = 0;
  Bytes palette;
  std::vector<Bytes> pixels;
  size_t pixel_bytes = 0;

  int channels() const { return channels_of_type(color_type); }
  int64_t row_bytes() const { return (width * depth * channels() + 7) / 8; }
};

bool read_header(Bytes file, Parts& parts) {
  const auto header = chunk_at(file, kSignatureSize);
  if (!header || header->kind != "IHDR" || header->content.size() != 13 || !header->is_good()) return false;
  parts.width = big_endian(file, 16, 4), parts.height = big_endian(file, 20, 4);
  parts.depth = file[24], parts.color_type = file[25];
  const bool may_be_small = parts.color_type == kGray || parts.color_type == kPalette;
  const bool is_depth = std::has_single_bit(static_cast<unsigned>(parts.depth)) && parts.depth <= 16;
  return is_depth && file[26] == 0 && file[27] == 0 && file[28] == 0 && (may_be_small || parts.depth >= 8) &&
         (parts.color_type != kPalette || parts.depth <= 8);
}

bool take_palette(const Chunk& chunk, Parts& parts) {
  const size_t size = chunk.content.size();
  const bool is_good = parts.palette.empty() && parts.pixels.empty() && size && size % 3 == 0 && chunk.is_good();
  parts.palette = chunk.content;
  if (parts.color_type == kPalette) return is_good && size <= size_t{3} << parts.depth;
  return is_good && size <= 3 * 256 && parts.channels() >= 3;
}

bool take_pixels(const Chunk& chunk, std::string_view before, Parts& parts) {
  parts.pixels.push_back(chunk.content);
  parts.pixel_bytes += chunk.content.size();
  return chunk.is_good() && (parts.pixels.size() == 1 || before == "IDAT");
}

bool take(const Chunk& chunk, std::string_view before, Parts& parts) {
  if (chunk.kind == "IDAT") return take_pixels(chunk, before, parts);
  if (chunk.kind == "PLTE") return take_palette(chunk, parts);
  return !chunk.is_critical() && chunk.has_plain_name() && chunk.content.size() <= kMostChunk;
}

bool ends_well(const Chunk& end, const Parts& parts) {
  const bool is_whole = !parts.pixels.empty() && (parts.color_type != kPalette || !parts.palette.empty());
  return is_whole && end.content.empty() && end.is_good();
}

// Nothing unless all is as the standard says.
std::optional<Parts> read_parts(Bytes file) {
  Parts parts;
  if (!read_header(file, parts)) return {};
  std::string_view before;
  size_t at = kHeaderEnd;
  while (const auto chunk = chunk_at(file, at)) {
    if (chunk->kind == "IEND") return ends_well(*chunk, parts) ? std::optional(parts) : std::nullopt;
    if (!take(*chunk, before, parts)) return {};
    before = chunk->kind;
    at += chunk->content.size() + 12;
  }
  return {};
}

// Distances reach back as far as the stream declares. zlib checks that, libdeflate allows the most.
bool has_wide_window(Bytes stream, int64_t bytes) {
  return stream.size() > 2 && (int64_t{256} << (stream[0] >> 4) >= std::min<int64_t>(bytes, 32768));
}

// The rows with their filters, and a margin; null if the stream is not as it should be.
Block expand(const Parts& parts) {
  const int64_t bytes = png_bytes(parts.height, parts.width, parts.depth * parts.channels());
  Block joined;
  Bytes stream = parts.pixels[0];
  if (parts.pixels.size() > 1) {
    joined = allocate(static_cast<int64_t>(parts.pixel_bytes));
    uint8_t* to = static_cast<uint8_t*>(joined.get());
    for (const Bytes piece : parts.pixels) to = std::copy(piece.begin(), piece.end(), to);
    stream = {static_cast<uint8_t*>(joined.get()), parts.pixel_bytes};
  }
  if (!has_wide_window(stream, bytes)) return {};
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!decompressor) fail(ErrorKind::memory, "PNG: no memory for the decoder");
  Block rows = allocate(bytes + kFilterMargin);
  if (libdeflate_zlib_decompress(decompressor.get(), stream.data(), stream.size(), rows.get(), bytes, nullptr))
    return {};
  return rows;
}

bool has_known_filters(const uint8_t* rows, const Parts& parts) {
  const int64_t stride = parts.row_bytes() + 1;
  for (int64_t y = 0; y < parts.height; ++y)
    if (rows[y * stride] > 4) return false;
  return true;
}

// Converts stored rows to requested ones.
class Converter {
 public:
  Converter(const Parts& parts, ImageType type, ColorModel color, const Roi& roi)
      : depth_(parts.depth), stored_(parts.channels()), left_(roi.x), width_(roi.width) {
    has_palette_ = parts.color_type == kPalette && type != ImageType::indices;
    blue_first_ = color == ColorModel::bgr;
    channels_ = has_palette_ ? 3 : channels_of(color, stored_);
    factor_ = parts.color_type == kGray && type != ImageType::indices && depth_ < 8 ? 255 / ((1 << depth_) - 1) : 1;
    if (has_palette_) read_palette(parts.palette);
  }

  // Whether rows are stored as they are requested.
  bool copies() const { return depth_ == 8 && !has_palette_ && !blue_first_ && channels_ == stored_; }

  void convert(const uint8_t* from, uint8_t* to) {
    if (has_palette_) return look_up(indices_of(from), to);
    if (depth_ < 8) return unpack(from, to);
    if (depth_ == 8 && channels_ == 3)
      return pick_colors(from + int64_t{left_} * stored_, stored_, blue_first_, to, width_);
    if (depth_ == 16) return pick(reinterpret_cast<const uint16_t*>(from), reinterpret_cast<uint16_t*>(to));
    pick(from, to);
  }

 private:
  void read_palette(Bytes palette) {
    for (size_t i = 0; i < palette.size() / 3; ++i) {
      const uint8_t* color = palette.data() + 3 * i;
      colors_[i] = {color[blue_first_ ? 2 : 0], color[1], color[blue_first_ ? 0 : 2], 0};
    }
  }

  const uint8_t* indices_of(const uint8_t* from) {
    if (depth_ == 8) return from + left_;
    indices_.resize(width_);
    unpack(from, indices_.data());
    return indices_.data();
  }

  void unpack(const uint8_t* from, uint8_t* to) const {
    const int mask = (1 << depth_) - 1;
    for (int64_t x = 0; x < width_; ++x) {
      const int64_t bit = (left_ + x) * depth_;
      to[x] = static_cast<uint8_t>((from[bit / 8] >> (8 - depth_ - bit % 8) & mask) * factor_);
    }
  }

  // Four bytes at a time, of which the next pixel overwrites one.
  void look_up(const uint8_t* indices, uint8_t* to) const {
    for (int64_t x = 0; x + 1 < width_; ++x, to += 3) std::memcpy(to, colors_[indices[x]].data(), 4);
    std::memcpy(to, colors_[indices[width_ - 1]].data(), 3);
  }

  static uint8_t native(uint8_t value) { return value; }
  static uint16_t native(uint16_t value) {
    return std::endian::native == std::endian::little ? static_cast<uint16_t>(value << 8 | value >> 8) : value;
  }

  template <int stored, int channels, bool blue_first, class T>
  void pick_each(const T* from, T* to) const {
    for (int64_t x = 0; x < width_; ++x)
      for (int c = 0; c < channels; ++c)
        to[x * channels + c] = native(from[x * stored + (blue_first ? channels - 1 - c : c)]);
  }

  template <class T>
  void pick(const T* row, T* to) const {
    const T* from = row + int64_t{left_} * stored_;
    if (stored_ == 1) return pick_each<1, 1, false>(from, to);
    if (stored_ == 2) return channels_ == 2 ? pick_each<2, 2, false>(from, to) : pick_each<2, 1, false>(from, to);
    if (stored_ == 3) return blue_first_ ? pick_each<3, 3, true>(from, to) : pick_each<3, 3, false>(from, to);
    if (channels_ == 4) return pick_each<4, 4, false>(from, to);
    blue_first_ ? pick_each<4, 3, true>(from, to) : pick_each<4, 3, false>(from, to);
  }

  int depth_, stored_, left_, channels_;
  int64_t width_;
  bool has_palette_, blue_first_;
  int factor_;
  std::array<std::array<uint8_t, 4>, 256> colors_{};  // black beyond the palette
  std::vector<uint8_t> indices_;
};

// Rows that are finished but not converted: the last one of the group before, and a group.
class Group {
 public:
  explicit Group(int64_t bytes)
      : stride_((bytes + kFilterMargin + 1) & ~int64_t{1}), rows_(stride_ * (kFilteredRows + 1)) {}

  uint8_t* row(int i) { return rows_.data() + stride_ * (i + 1); }
  int64_t stride() const { return stride_; }
  void keep_last(int count) { std::memcpy(row(-1), row(count - 1), stride_); }

 private:
  int64_t stride_;
  std::vector<uint8_t> rows_;
};

FilteredRows filtered_rows(const Parts& parts, const uint8_t* rows, int64_t y) {
  const int64_t bytes = parts.row_bytes();
  return {rows + y * (bytes + 1), bytes, std::max(1, parts.depth * parts.channels() / 8)};
}

void finish_in_place(const Parts& parts, const uint8_t* rows, const PixelRows& out) {
  const std::vector<uint8_t> zeros(parts.row_bytes() + kFilterMargin);
  for (int64_t y = 0; y < parts.height; y += kFilteredRows) {
    FilteredRows filtered = filtered_rows(parts, rows, y);
    filtered.to = out.first + y * out.stride, filtered.stride = out.stride;
    filtered.above = y ? filtered.to - out.stride : zeros.data();
    undo_filters(filtered, static_cast<int>(std::min<int64_t>(kFilteredRows, parts.height - y)));
  }
}

void finish(const Parts& parts, const uint8_t* rows, Converter& converter, const Roi& roi, const PixelRows& out) {
  Group group(parts.row_bytes());
  const int64_t end = roi.y + roi.height;
  for (int64_t y = 0; y < end; y += kFilteredRows) {
    const int count = static_cast<int>(std::min<int64_t>(kFilteredRows, end - y));
    FilteredRows filtered = filtered_rows(parts, rows, y);
    filtered.to = group.row(0), filtered.stride = group.stride(), filtered.above = group.row(-1);
    undo_filters(filtered, count);
    for (int i = 0; i < count; ++i)
      if (y + i >= roi.y) converter.convert(group.row(i), out.first + (y + i - roi.y) * out.stride);
    group.keep_last(count);
  }
}

// Where only the upper rows are needed, libpng is faster, since it stops there.
bool is_most(const Roi& roi, int64_t height) { return 2 * (int64_t{roi.y} + roi.height) > height; }

bool decode(Bytes file, const ImageInfo& info, ImageType type, ColorModel color, const Roi& roi, const PixelRows& out) {
  if (!is_most(roi, info.height)) return false;
  const auto parts = read_parts(file);
  const int64_t stored = parts ? png_bytes(parts->height, parts->width, parts->depth * parts->channels()) : 0;
  if (!parts || parts->height != info.height || parts->width != info.width || stored > kMostWholePng) return false;
  const bool has_palette = parts->color_type == kPalette;
  const int channels = has_palette && type != ImageType::indices ? 3 : parts->channels();
  if (channels != info.channels || (parts->depth == 16) != (info.dtype == DType::uint16)) return false;
  if (color == ColorModel::gray && channels > 2) return false;
  const Block rows = expand(*parts);
  if (!rows || !has_known_filters(static_cast<const uint8_t*>(rows.get()), *parts)) return false;
  Converter converter(*parts, type, color, roi);
  const bool is_all = roi.height == info.height && roi.width == info.width;
  if (is_all && converter.copies())
    finish_in_place(*parts, static_cast<const uint8_t*>(rows.get()), out);
  else
    finish(*parts, static_cast<const uint8_t*>(rows.get()), converter, roi, out);
  return true;
}

[[maybe_unused]] const bool registered = (decode_whole_png = decode, true);

}  // namespace
}  // namespace avida::codecs
