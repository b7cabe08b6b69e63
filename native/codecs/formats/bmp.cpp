// BMP, without a library: 1 to 32 bits per pixel, run lengths.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "codecs/bytes.h"
#include "codecs/formats/pixel_bytes.h"

namespace avida::codecs {
namespace {

enum Compression : uint32_t { kPlain, kRle8, kRle4, kBitFields, kAlphaBitFields = 6 };

struct Header {
  int64_t width = 0, height = 0;
  bool top_down = false;
  int bits = 0;
  uint32_t compression = kPlain;
  size_t pixels = 0;                                  // their offset in the file
  std::array<uint32_t, 4> masks{};                    // red, green, blue, alpha: for 16 and 32 bits
  std::array<std::array<uint8_t, 4>, 256> palette{};  // red, green, blue, and nothing
  bool gray_palette = true;

  bool has_palette() const { return bits <= 8; }
  bool is_run_length() const { return compression == kRle8 || compression == kRle4; }
  int64_t stride() const { return (width * bits + 31) / 32 * 4; }
};

void read_masks(Header& header, Bytes file, uint32_t header_size) {
  if (header.bits == 16) header.masks = {0x7c00, 0x03e0, 0x001f, 0};
  if (header.bits == 32) header.masks = {0xff0000, 0x00ff00, 0x0000ff, 0};
  if (header.compression != kBitFields && header.compression != kAlphaBitFields) return;
  if (header.bits != 16 && header.bits != 32)
    refuse("BMP: expected 16 or 32 bits with colour masks, got ", header.bits);
  const bool has_alpha = header_size >= 56 || header.compression == kAlphaBitFields;
  for (int i = 0; i < 3 + has_alpha; ++i) header.masks[i] = little_endian(file, 54 + 4 * i, 4);
}

void read_palette(Header& header, Bytes file, uint32_t header_size) {
  const int entry = header_size == 12 ? 3 : 4;
  const size_t first = 14 + header_size;
  const uint32_t used = header_size >= 36 ? little_endian(file, 46, 4) : 0;
  const size_t held = first < file.size() ? (file.size() - first) / entry : 0;
  const size_t most = std::min<size_t>(size_t{1} << header.bits, held);
  const size_t count = used ? std::min<size_t>(used, most) : most;
  for (size_t i = 0; i < count; ++i) {
    const Bytes color = part(file, first + i * entry, 3);
    header.palette[i] = {color[2], color[1], color[0], 0};
    header.gray_palette &= color[0] == color[1] && color[1] == color[2];
  }
}

Header parse(Bytes file) {
  Header header;
  const uint32_t size = little_endian(file, 14, 4);
  header.pixels = little_endian(file, 10, 4);
  if (size == 12) {
    header.width = little_endian(file, 18, 2), header.height = little_endian(file, 20, 2);
    header.bits = little_endian(file, 24, 2);
  } else if (size >= 40 && size <= 1024) {
    header.width = static_cast<int32_t>(little_endian(file, 18, 4));
    const int64_t height = static_cast<int32_t>(little_endian(file, 22, 4));
    header.top_down = height < 0, header.height = std::abs(height);
    header.bits = little_endian(file, 28, 2);
    header.compression = little_endian(file, 30, 4);
  } else {
    refuse("BMP: expected a header of 12, 40 or more bytes, got ", size);
  }
  if (header.bits > 32 || !(std::has_single_bit(static_cast<uint32_t>(header.bits)) || header.bits == 24))
    refuse("BMP: expected 1, 2, 4, 8, 16, 24 or 32 bits, got ", header.bits);
  if (header.compression > kBitFields && header.compression != kAlphaBitFields)
    refuse("BMP: compression ", header.compression, " is not supported");
  if (header.is_run_length() && header.bits != (header.compression == kRle8 ? 8 : 4))
    refuse("BMP: run-length coding cannot be combined with ", header.bits, " bits");
  check_extents(header.height, header.width, 4);
  read_masks(header, file, size);
  if (header.has_palette()) read_palette(header, file, size);
  if (header.is_run_length())
    check_ratio(file, header.height * header.width, 1024);
  else  // the last row may lack its padding
    part(file, header.pixels, header.stride() * (header.height - 1) + (header.width * header.bits + 7) / 8);
  return header;
}

ImageInfo info_of(const Header& header) {
  ImageInfo info;
  info.height = static_cast<int>(header.height), info.width = static_cast<int>(header.width);
  info.color = header.has_palette() && header.gray_palette ? ColorModel::gray
               : header.masks[3]                           ? ColorModel::rgb_alpha
                                                           : ColorModel::rgb;
  info.channels = channels_of(info.color, 0);
  info.gray_bits = 14;
  info.index_bits = header.has_palette() ? header.bits : 0;
  if (header.is_run_length()) info.scratch.always = header.width * header.height;
  return info;
}

// One byte per pixel: the indices of a run-length coded image, in the order of the file.
std::vector<uint8_t> expand_runs(const Header& header, Bytes file) {
  std::vector<uint8_t> indices(header.width * header.height);
  const bool four_bits = header.compression == kRle4;
  int64_t x = 0, y = 0;
  const auto put = [&](int count, const auto& index_of) {
    const int64_t first = y * header.width + x, room = y < header.height ? header.width - x : 0;
    for (int64_t i = 0; i < std::min<int64_t>(count, room); ++i) indices[first + i] = index_of(i);
    x += count;
  };
  for (size_t at = header.pixels; y < header.height;) {
    const uint8_t count = little_endian(file, at, 1), value = little_endian(file, at + 1, 1);
    at += 2;
    if (count) {
      put(count, [=](int64_t i) { return !four_bits ? value : i % 2 ? value & 15 : value >> 4; });
    } else if (value == 0) {  // end of the row
      x = 0, ++y;
    } else if (value == 1) {  // end of the image
      break;
    } else if (value == 2) {  // a delta: moves right and to a later row
      x += little_endian(file, at, 1), y += little_endian(file, at + 1, 1);
      at += 2;
    } else {  // uncompressed pixels, padded to two bytes
      const size_t size = four_bits ? (value + 1) / 2 : value;
      const Bytes pixels = part(file, at, size);
      put(value, [=](int64_t i) { return !four_bits ? pixels[i] : i % 2 ? pixels[i / 2] & 15 : pixels[i / 2] >> 4; });
      at += (size + 1) & ~size_t{1};
    }
  }
  return indices;
}

uint8_t masked(uint32_t pixel, uint32_t mask) {
  if (!mask) return 0;
  const uint32_t value = (pixel & mask) >> std::countr_zero(mask);
  const int bits = std::bit_width(mask >> std::countr_zero(mask));
  return static_cast<uint8_t>(bits > 8 ? value >> (bits - 8) : value << (8 - bits));
}

uint8_t index_at(int bits, const uint8_t* row, int64_t x) {
  if (bits == 8) return row[x];
  const int64_t bit = x * bits;
  return static_cast<uint8_t>(row[bit / 8] >> (8 - bits - bit % 8) & ((1 << bits) - 1));
}

void copy_indices(int bits, const uint8_t* row, const Roi& roi, uint8_t* to) {
  if (bits == 8)
    std::memcpy(to, row + roi.x, roi.width);
  else
    for (int x = 0; x < roi.width; ++x) to[x] = index_at(bits, row, roi.x + x);
}

void read_masked(const Header& header, const uint8_t* row, const Roi& roi, int channels, uint8_t* to) {
  const auto size = static_cast<size_t>(header.bits / 8);
  for (int x = roi.x; x < roi.x + roi.width; ++x) {
    const uint32_t pixel = little_endian({row + x * size, size}, 0, static_cast<int>(size));
    for (int c = 0; c < channels; ++c) *to++ = masked(pixel, header.masks[c]);
  }
}

void read_colors(const Header& header, const uint8_t* row, const Roi& roi, int channels, uint8_t* to) {
  const bool has_bytes = header.masks == std::array<uint32_t, 4>{0xff0000, 0x00ff00, 0x0000ff, 0};
  if (header.bits == 24) return pick_colors(row + int64_t{3} * roi.x, 3, true, to, roi.width);
  if (header.bits == 32 && has_bytes) return pick_colors(row + int64_t{4} * roi.x, 4, true, to, roi.width);
  read_masked(header, row, roi, channels, to);
}

// Four bytes at a time, of which the next pixel overwrites what is too much.
void look_up(const Header& header, const uint8_t* indices, int width, int channels, uint8_t* to) {
  for (int x = 0; x + 3 < width; ++x, to += channels) std::memcpy(to, header.palette[indices[x]].data(), 4);
  for (int x = std::max(0, width - 3); x < width; ++x)
    to = std::copy_n(header.palette[indices[x]].data(), channels, to);
}

class BmpFile : public ImageFile {
 public:
  explicit BmpFile(Bytes bytes) : ImageFile(bytes), header_(parse(bytes)) { info_ = info_of(header_); }
  void decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const override;

 private:
  const Header header_;
};

void BmpFile::decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const {
  std::vector<uint8_t> indices;
  const uint8_t* rows = bytes_.data() + header_.pixels;
  int bits = header_.bits;
  if (header_.is_run_length()) {
    indices = expand_runs(header_, bytes_);
    rows = indices.data();
    bits = 8;
  }
  const int64_t stride = header_.is_run_length() ? header_.width : header_.stride();
  std::vector<uint8_t> row(header_.has_palette() ? roi.width : 0);
  for (int y = 0; y < roi.height; ++y) {
    const int64_t stored_y = header_.top_down ? roi.y + y : header_.height - 1 - roi.y - y;
    const uint8_t* from = rows + stored_y * stride;
    uint8_t* to = out.first + y * out.stride;
    if (options.type == ImageType::indices)
      copy_indices(bits, from, roi, to);
    else if (header_.has_palette())
      copy_indices(bits, from, roi, row.data()), look_up(header_, row.data(), roi.width, info_.channels, to);
    else
      read_colors(header_, from, roi, info_.channels, to);
  }
}

const int registered = register_codec({.name = "BMP",
                                       .endings = {".bmp"},
                                       .begins = {"BM"},
                                       .library = "avida",
                                       .can = {.parts = true, .indices = true, .alpha = true},
                                       .open = open_as<BmpFile>});

}  // namespace
}  // namespace avida::codecs
