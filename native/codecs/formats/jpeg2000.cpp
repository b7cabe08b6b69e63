// JPEG 2000, with OpenJPEG.
#include <openjpeg.h>

#include <algorithm>
#include <memory>

#include "codecs/bytes.h"
#include "codecs/icc.h"

namespace avida::codecs {
namespace {

constexpr std::string_view kBoxes("\0\0\0\x0cjP  \r\n\x87\n", 12), kCodestream("\xff\x4f\xff\x51", 4);
constexpr uint32_t kCmyk = 12, kLab = 14, kFullRangeYcc = 18;  // colour spaces, as numbered in a colr box

struct Header {
  ImageInfo info;
  int64_t left = 0, top = 0, right = 0, bottom = 0;  // on the grid of the codestream
  int components = 0, precision = 0;
  bool is_ycc = false;
  bool is_subsampled = false;  // some component has fewer samples than the image
  bool has_palette = false, is_signed = false;
};

// The content of the first box of a kind, or nothing.
Bytes find_box(Bytes boxes, std::string_view kind) {
  for (size_t at = 0; at + 8 <= boxes.size();) {
    uint64_t size = big_endian(boxes, at, 4), head = 8;
    if (size == 1) size = uint64_t{big_endian(boxes, at + 8, 4)} << 32 | big_endian(boxes, at + 12, 4), head = 16;
    if (size == 0) size = boxes.size() - at;
    if (size < head || size > boxes.size() - at) size = boxes.size() - at;
    if (has_text(boxes, at + 4, kind)) return boxes.subspan(at).first(size).subspan(std::min(head, size));
    at += size;
  }
  return {};
}

constexpr int kSteps = 16;  // of work for a pixel, at least: transforms of wavelets in 32 bits

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The colour information of the boxes around the codestream.
void read_boxes(Header& header, Bytes file, int& precision) {
  const Bytes boxes = find_box(file, "jp2h");
  if (const Bytes palette = find_box(boxes, "pclr"); !palette.empty()) {
    header.has_palette = true;
    header.info.channels = big_endian(palette, 2, 1);
    precision = 0;
    for (int i = 0; i < header.info.channels; ++i)
      precision = std::max(precision, static_cast<int>(big_endian(palette, 3 + i, 1) & 127) + 1);
  }
  if (const Bytes color = find_box(boxes, "colr"); !color.empty() && color[0] == 1) {
    const uint32_t space = big_endian(color, 3, 4);
    header.is_ycc = space == kFullRangeYcc;
    if (space == kCmyk || space == kLab) header.info.color = ColorModel::other;
  }
}

// A header may declare very many packets, for which the library allocates memory at once. Each packet needs at least a
// byte, so a header that declares more packets than the file has bytes is rejected.
void check_packets(Bytes stream, size_t styles, bool own_precincts, int64_t height, int64_t width, int64_t factor) {
  const int levels = std::min<int>(big_endian(stream, styles, 1), 32);
  int64_t packets = 0;
  for (int level = 0; level <= levels; ++level) {
    const uint32_t exponents = own_precincts ? big_endian(stream, styles + 5 + level, 1) : 0xff;
    const int shift = levels - level;
    packets += divide_up(width, int64_t{1} << (shift + (exponents & 15))) *
               divide_up(height, int64_t{1} << (shift + (exponents >> 4)));
  }
  if (packets * factor > 1024 + 4 * static_cast<int64_t>(stream.size()))
    refuse("JPEG 2000: the file is too short for the packets that its header declares");
}

// Checks the markers of the main header and of all tiles. Returns the number of pixels of the smallest code block.
int64_t check_markers(Bytes stream, int64_t height, int64_t width, int64_t components) {
  constexpr uint32_t kCod = 0xff52, kCoc = 0xff53, kSot = 0xff90, kSod = 0xff93;
  size_t tile = 0, tile_size = 0;
  int64_t layers = 1, smallest = 64 * 64;
  const auto check_style = [&](size_t styles, bool own_precincts, int64_t factor) {
    check_packets(stream, styles, own_precincts, height, width, factor);
    const uint32_t exponents = (big_endian(stream, styles + 1, 1) & 15) + (big_endian(stream, styles + 2, 1) & 15) + 4;
    smallest = std::min(smallest, int64_t{1} << exponents);
  };
  for (size_t at = 2; at + 4 <= stream.size();) {
    const uint32_t marker = big_endian(stream, at, 2);
    if (marker == kSod) {  // the data of a tile, followed by the next tile
      if (tile + tile_size <= at || tile_size > stream.size() - tile) break;
      at = tile + tile_size;
      continue;
    }
    if (marker == kSot) tile = at, tile_size = big_endian(stream, at + 6, 4);
    if (marker == kCod) {
      layers = std::max<int64_t>(layers, big_endian(stream, at + 6, 2));
      check_style(at + 9, big_endian(stream, at + 4, 1) & 1, layers * components);
    }
    if (marker == kCoc) {
      const size_t style = at + (components < 257 ? 5 : 6);
      check_style(style + 1, big_endian(stream, style, 1) & 1, layers);
    }
    at += 2 + big_endian(stream, at + 2, 2);
  }
  return smallest;
}

Header read_header(Bytes file) {
  const Bytes stream = has_text(file, 0, kCodestream) ? file : find_box(file, "jp2c");
  if (!has_text(stream, 0, kCodestream)) refuse("JPEG 2000: expected a codestream, found none");
  const auto number = [&](size_t at) { return static_cast<int64_t>(big_endian(stream, at, 4)); };
  const int64_t right = number(8), bottom = number(12), left = number(16), top = number(20);
  const int64_t tile_width = number(24), tile_height = number(28), tile_left = number(32), tile_top = number(36);
  const int components = big_endian(stream, 40, 2);

  Header header{.left = left, .top = top, .right = right, .bottom = bottom, .components = components};
  header.info.gray_bits = 15;
  int64_t step_x = 256, step_y = 256, largest_x = 1, largest_y = 1;
  int precision = 0;
  for (int i = 0; i < components; ++i) {
    precision = std::max(precision, static_cast<int>(big_endian(stream, 42 + 3 * i, 1) & 127) + 1);
    header.is_signed |= big_endian(stream, 42 + 3 * i, 1) > 127;
    const int64_t dx = big_endian(stream, 43 + 3 * i, 1), dy = big_endian(stream, 44 + 3 * i, 1);
    if (!dx || !dy) refuse("JPEG 2000: component ", i, " has no samples");
    step_x = std::min(step_x, dx), step_y = std::min(step_y, dy);
    largest_x = std::max(largest_x, dx), largest_y = std::max(largest_y, dy);
  }
  header.is_subsampled = largest_x > 1 || largest_y > 1;
  header.info.channels = components;
  const int64_t height = divide_up(bottom, step_y) - divide_up(top, step_y);
  const int64_t width = divide_up(right, step_x) - divide_up(left, step_x);
  check_extents(height, width, components);
  check_work(height * width, "pixels", kSteps);
  if (!tile_width || !tile_height || tile_left > left || tile_top > top)
    refuse("JPEG 2000: the tiles do not cover the image");
  constexpr int64_t kTileBytes = 14;  // the size of the markers at the beginning of a tile
  const int64_t tiles = divide_up(right - tile_left, tile_width) * divide_up(bottom - tile_top, tile_height);
  if (tiles > static_cast<int64_t>(stream.size()) / kTileBytes)
    refuse("JPEG 2000: expected ", tiles, " tiles, the file is too short for them");
  const int64_t block_pixels = check_markers(stream, height, width, components);
  header.info.height = static_cast<int>(height), header.info.width = static_cast<int>(width);

  constexpr ColorModel kColors[] = {ColorModel::gray, ColorModel::gray_alpha, ColorModel::rgb, ColorModel::rgb_alpha};
  if (stream.size() != file.size()) read_boxes(header, file, precision);
  const int channels = header.info.channels;
  check_extents(height, width, channels);
  if (header.info.color != ColorModel::other)
    header.info.color = channels <= 4 ? kColors[channels - 1] : ColorModel::other;
  if (stream.size() == file.size() && channels == 3 && (largest_x > step_x || largest_y > step_y)) header.is_ycc = true;
  if (channels < 3) header.is_ycc = false;
  header.precision = precision;
  header.info.dtype = precision > 8 ? DType::uint16 : DType::uint8;
  if (channels == 1 && !header.has_palette && !header.is_signed && precision <= 16) header.info.index_bits = precision;

  // The library keeps the samples of a tile and of the image in 32 bits, and a descriptor for each code block of a
  // tile.
  constexpr int64_t kBlockBytes = 800, kSampleBytes = sizeof(OPJ_INT32);
  const int64_t tile_samples = std::min(tile_height, height) * std::min(tile_width, width) * components;
  Scratch& scratch = header.info.scratch;
  scratch.always = tile_samples / block_pixels * kBlockBytes + (tiles > 1 ? tile_samples * kSampleBytes : 0);
  if (header.is_subsampled)
    scratch.always += height * width * components * kSampleBytes;
  else
    scratch.per_pixel = scratch.per_pixel_of_parts = components * kSampleBytes;
  if (header.has_palette) scratch.per_pixel += channels * kSampleBytes;
  return header;
}

struct Source {
  Bytes file;
  size_t at = 0;
  char message[160] = {};  // the first error
};

OPJ_SIZE_T read(void* to, OPJ_SIZE_T size, void* user) {
  auto& source = *static_cast<Source*>(user);
  size = std::min<size_t>(size, source.file.size() - source.at);
  if (!size) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, source.file.data() + source.at, size);
  source.at += size;
  return size;
}

OPJ_BOOL seek(OPJ_OFF_T to, void* user) {
  auto& source = *static_cast<Source*>(user);
  if (to < 0 || static_cast<size_t>(to) > source.file.size()) return OPJ_FALSE;
  source.at = to;
  return OPJ_TRUE;
}

OPJ_OFF_T skip(OPJ_OFF_T by, void* user) {
  auto& source = *static_cast<Source*>(user);
  if (by < 0) return -1;
  source.at += std::min<size_t>(by, source.file.size() - source.at);
  return by;
}

void keep_message(const char* message, void* user) {
  auto& source = *static_cast<Source*>(user);
  if (*source.message) return;
  std::strncpy(source.message, message, sizeof(source.message) - 1);
  if (char* end = std::strchr(source.message, '\n')) *end = 0;
}

using Image = std::unique_ptr<opj_image_t, decltype(&opj_image_destroy)>;

Image decode_components(Source& source, const Header& header, const Roi* area) {
  const bool boxed = has_text(source.file, 0, kBoxes);
  std::unique_ptr<opj_codec_t, decltype(&opj_destroy_codec)> codec(
      opj_create_decompress(boxed ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K), opj_destroy_codec);
  std::unique_ptr<opj_stream_t, decltype(&opj_stream_destroy)> stream(
      opj_stream_create(std::clamp<size_t>(source.file.size(), 1, 1 << 20), OPJ_STREAM_READ), opj_stream_destroy);
  if (!codec || !stream) fail(ErrorKind::memory, "JPEG 2000: no memory for the decoder");
  opj_set_error_handler(codec.get(), keep_message, &source);
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), source.file.size());
  opj_stream_set_read_function(stream.get(), read);
  opj_stream_set_seek_function(stream.get(), seek);
  opj_stream_set_skip_function(stream.get(), skip);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* read_image = nullptr;
  bool good = opj_setup_decoder(codec.get(), &parameters) && opj_read_header(stream.get(), codec.get(), &read_image);
  Image image(read_image, opj_image_destroy);
  if (good && (image->x0 != header.left || image->y0 != header.top || image->x1 != header.right ||
               image->y1 != header.bottom || static_cast<int>(image->numcomps) != header.components))
    refuse(kChangedText);
  if (good && area) {
    const int x = image->x0 + area->x, y = image->y0 + area->y;
    good = opj_set_decode_area(codec.get(), image.get(), x, y, x + area->width, y + area->height);
  }
  good = good && opj_decode(codec.get(), stream.get(), image.get()) && opj_end_decompress(codec.get(), stream.get());
  if (!good) refuse("JPEG 2000: ", *source.message ? source.message : "the data is corrupt");
  return image;
}

// The samples of one component, unchanged or scaled to the range of `bits`.
class Component {
 public:
  Component(const opj_image_comp_t& stored, int bits)
      : stored_(stored), offset_(stored.sgnd ? 1 << (stored.prec - 1) : 0) {
    most_ = (int64_t{1} << stored.prec) - 1;
    range_ = (int64_t{1} << bits) - 1;
  }

  int at(int64_t x, int64_t y) const {
    const int64_t value = std::clamp<int64_t>(int64_t{stored_.data[y * stored_.w + x]} + offset_, 0, most_);
    return static_cast<int>(most_ == range_ ? value : value * range_ / most_);
  }

  // Samples that lie side by side, into every `step`-th element.
  template <class T>
  void copy_row(int64_t x, int64_t y, int count, T* to, int step) const {
    const int* from = stored_.data + y * stored_.w + x;
    if (most_ != range_ || stored_.prec > 16)
      for (int i = 0; i < count; ++i) to[int64_t{i} * step] = static_cast<T>(at(x + i, y));
    else
      for (int i = 0; i < count; ++i)
        to[int64_t{i} * step] =
            static_cast<T>(std::clamp(from[i], -offset_, static_cast<int>(most_) - offset_) + offset_);
  }

 private:
  const opj_image_comp_t& stored_;
  int offset_;
  int64_t most_, range_;
};

template <class T>
void ycc_to_rgb(T* pixel, int bits) {
  const int middle = 1 << (bits - 1), most = (1 << bits) - 1;
  const int y = pixel[0], cb = pixel[1] - middle, cr = pixel[2] - middle;
  const int rgb[] = {y + static_cast<int>(1.402 * cr), y - static_cast<int>(0.344 * cb + 0.714 * cr),
                     y + static_cast<int>(1.772 * cb)};
  for (int i = 0; i < 3; ++i) pixel[i] = static_cast<T>(std::clamp(rgb[i], 0, most));
}

// `roi` is relative to the first decoded sample of the image.
template <class T>
void write(const opj_image_t& image, const Header& header, ImageType type, const Roi& roi, const PixelRows& out) {
  const int channels = header.info.channels;
  uint32_t step_x = 256, step_y = 256;
  int bits = 8;
  for (int c = 0; c < channels; ++c) {
    step_x = std::min(step_x, image.comps[c].dx), step_y = std::min(step_y, image.comps[c].dy);
    bits = std::clamp(static_cast<int>(image.comps[c].prec), bits, static_cast<int>(8 * sizeof(T)));
  }
  const int64_t left = divide_up(image.x0, step_x), top = divide_up(image.y0, step_y);
  for (int c = 0; c < channels; ++c) {
    const opj_image_comp_t& stored = image.comps[c];
    const Component component(stored, type == ImageType::indices ? static_cast<int>(stored.prec) : bits);
    for (int y = 0; y < roi.height; ++y) {
      T* to = reinterpret_cast<T*>(out.first + y * out.stride) + c;
      const int64_t from_y = std::clamp<int64_t>((top + roi.y + y) * step_y / stored.dy - stored.y0, 0, stored.h - 1);
      const int64_t first = left + roi.x - stored.x0;
      if (stored.dx == step_x && first >= 0 && first + roi.width <= stored.w) {
        component.copy_row(first, from_y, roi.width, to, channels);
        continue;
      }
      for (int x = 0; x < roi.width; ++x, to += channels) {
        const int64_t from_x =
            std::clamp<int64_t>((left + roi.x + x) * step_x / stored.dx - stored.x0, 0, stored.w - 1);
        *to = static_cast<T>(component.at(from_x, from_y));
      }
    }
  }
  if (!header.is_ycc) return;
  for (int y = 0; y < roi.height; ++y)
    for (int x = 0; x < roi.width; ++x)
      ycc_to_rgb(reinterpret_cast<T*>(out.first + y * out.stride) + int64_t{x} * channels, bits);
}

class Jpeg2000File : public ImageFile {
 public:
  explicit Jpeg2000File(Bytes bytes) : ImageFile(bytes), header_(read_header(bytes)) { info_ = header_.info; }

  ImageDetails details() const override {
    const Bytes color = find_box(find_box(bytes_, "jp2h"), "colr");
    constexpr uint8_t kProfile = 2;
    const bool has_profile = color.size() > 3 && color[0] == kProfile && !has_text(bytes_, 0, kCodestream);
    return {.bits = header_.precision, .profile = has_profile ? profile_name(color.subspan(3)) : ""};
  }

  void decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const override {
    const bool cut = !header_.is_subsampled && (roi.height < info_.height || roi.width < info_.width);
    Source source{bytes_};
    const Image image = decode_components(source, header_, cut ? &roi : nullptr);
    if (static_cast<int>(image->numcomps) < info_.channels)
      refuse("JPEG 2000: expected ", info_.channels, " components, got ", image->numcomps);
    for (int c = 0; c < info_.channels; ++c)
      if (const auto& stored = image->comps[c];
          !stored.data || !stored.w || !stored.h || stored.prec > 31 || !stored.prec)
        refuse("JPEG 2000: component ", c, " could not be decoded");
    const Roi within = cut ? Roi{0, 0, roi.height, roi.width} : roi;
    if (info_.for_type(options.type).dtype == DType::uint8)
      write<uint8_t>(*image, header_, options.type, within, out);
    else
      write<uint16_t>(*image, header_, options.type, within, out);
  }

 private:
  const Header header_;
};

const int registered = register_codec({.name = "JPEG 2000",
                                       .endings = {".j2k", ".jp2"},
                                       .begins = {kBoxes, kCodestream},
                                       .library = str("OpenJPEG ", opj_version()),
                                       .shared = "libopenjp2",
                                       .license = "BSD-2-Clause",
                                       .can = {.parts = true, .indices = true, .alpha = true, .wide = true},
                                       .open = open_as<Jpeg2000File>});

}  // namespace
}  // namespace avida::codecs
