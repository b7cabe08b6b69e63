// GIF, without a library: the first picture, and animations.
#include <algorithm>
#include <array>
#include <optional>

#include "codecs/bytes.h"
#include "codecs/canvas.h"

namespace avida::codecs {
namespace {

constexpr uint8_t kExtension = 0x21, kImage = 0x2C, kTrailer = 0x3B, kControl = 0xF9;

constexpr int kSteps = 2;                          // of work for a pixel
constexpr int64_t kMostRatio = 4096 * 8 / 12 + 1;  // pixels for a byte: a code of 12 bits stands for 4,096 at most

using Palette = std::array<std::array<uint8_t, 4>, 256>;

// A picture as the file has it.
struct Picture {
  Roi place;
  bool interlaced = false;
  int transparent = -1;
  Disposal disposal = Disposal::keep;
  Bytes palette;      // of its own, or that of the file
  int code_bits = 0;  // of the first codes
  size_t data = 0;    // where the blocks of its data begin
};

int palette_bytes(uint32_t flags) { return flags & 0x80 ? 3 << ((flags & 7) + 1) : 0; }

// Blocks of up to 255 bytes: the place behind their end, with a call for each.
template <class Fn>
size_t each_block(Bytes file, size_t at, const Fn& fn) {
  while (const uint32_t size = little_endian(file, at, 1)) {
    fn(part(file, at + 1, size));
    at += 1 + size;
  }
  return at + 1;
}

// Goes from picture to picture.
class Pictures {
 public:
  explicit Pictures(Bytes file) : file_(file) {
    const uint32_t flags = little_endian(file, 10, 1);
    palette_ = part(file, 13, palette_bytes(flags));
    at_ = 13 + palette_.size();
  }

  // Nothing behind the last one. A file may lack its trailer.
  std::optional<Picture> next() {
    Picture picture;
    while (at_ < file_.size()) {
      const uint32_t kind = little_endian(file_, at_, 1);
      if (kind == kTrailer) return {};
      if (kind == kImage) return read_picture(picture);
      if (kind != kExtension) refuse("GIF: expected an image or an extension at byte ", at_, ", got ", kind);
      read_extension(picture);
    }
    return {};
  }

 private:
  void read_extension(Picture& picture) {
    const bool is_control = little_endian(file_, at_ + 1, 1) == kControl;
    at_ = each_block(file_, at_ + 2, [&](Bytes block) {
      if (is_control && block.size() >= 4) read_control(block, picture);
    });
  }

  static void read_control(Bytes block, Picture& picture) {
    const int disposal = block[0] >> 2 & 7;
    picture.disposal = disposal == 2 ? Disposal::clear : disposal == 3 ? Disposal::restore : Disposal::keep;
    picture.transparent = block[0] & 1 ? block[3] : -1;
  }

  Picture read_picture(Picture picture) {
    const auto number = [&](size_t at) { return static_cast<int>(little_endian(file_, at_ + at, 2)); };
    picture.place = {number(3), number(1), number(7), number(5)};
    const uint32_t flags = little_endian(file_, at_ + 9, 1);
    picture.interlaced = flags & 0x40;
    const Bytes own = part(file_, at_ + 10, palette_bytes(flags));
    picture.palette = own.empty() ? palette_ : own;
    picture.code_bits = static_cast<int>(little_endian(file_, at_ + 10 + own.size(), 1));
    picture.data = at_ + 11 + own.size();
    at_ = each_block(file_, picture.data, [](Bytes) {});
    return picture;
  }

  Bytes file_, palette_;
  size_t at_;
};

// Codes of LZW, from the lowest bit on, become indices.
class Codes {
 public:
  Codes(Bytes file, const Picture& picture) : first_bits_(picture.code_bits) {
    if (first_bits_ < 1 || first_bits_ > 8) refuse("GIF: expected codes of 1 to 8 bits, got ", first_bits_);
    each_block(file, picture.data, [this](Bytes block) { data_.insert(data_.end(), block.begin(), block.end()); });
    for (int i = 0; i < clear(); ++i) last_[i] = first_[i] = static_cast<uint8_t>(i), length_[i] = 1;
    restart();
  }

  void expand(std::span<uint8_t> out) {
    for (size_t done = 0; done < out.size();) {
      const int code = read();
      if (code == clear()) {
        restart();
      } else if (code < 0 || code == clear() + 1) {
        refuse("GIF: expected ", out.size(), " pixels, the data ends after ", done);
      } else {
        add(code);
        done += write(code, out.subspan(done));
        before_ = code;
      }
    }
  }

 private:
  static constexpr int kMost = 4096;

  int clear() const { return 1 << first_bits_; }
  void restart() { count_ = clear() + 2, bits_ = first_bits_ + 1, before_ = -1; }

  // -1 at the end.
  int read() {
    for (; held_ < bits_; held_ += 8) {
      if (at_ == data_.size()) return -1;
      waiting_ |= static_cast<uint32_t>(data_[at_++]) << held_;
    }
    const int code = static_cast<int>(waiting_ & ((1u << bits_) - 1));
    waiting_ >>= bits_, held_ -= bits_;
    return code;
  }

  // A new string: the one before, and the first index of this one, which may be the new one itself.
  void add(int code) {
    if (code > count_ || (before_ < 0 && code >= clear()) || (code == count_ && count_ == kMost))
      refuse("GIF: the data is corrupt: code ", code, " of ", count_);
    if (before_ < 0 || count_ == kMost) return;
    prefix_[count_] = static_cast<uint16_t>(before_), first_[count_] = first_[before_];
    last_[count_] = code == count_ ? first_[before_] : first_[code];
    length_[count_] = static_cast<uint16_t>(length_[before_] + 1);
    if (++count_ == 1 << bits_ && bits_ < 12) ++bits_;
  }

  size_t write(int code, std::span<uint8_t> out) const {
    const size_t length = length_[code], count = std::min(length, out.size());
    for (size_t i = length; i-- > 0; code = prefix_[code])
      if (i < count) out[i] = last_[code];
    return count;
  }

  int first_bits_, bits_ = 0, count_ = 0, before_ = -1;
  std::vector<uint8_t> data_;
  size_t at_ = 0;
  uint32_t waiting_ = 0;
  int held_ = 0;
  std::array<uint16_t, kMost> prefix_{}, length_{};
  std::array<uint8_t, kMost> first_{}, last_{};
};

Palette palette_of(const Picture& picture) {
  Palette colors{};
  for (size_t i = 0; i < colors.size(); ++i) {
    const bool has = 3 * i + 3 <= picture.palette.size();  // others are black
    const uint8_t* color = picture.palette.data() + 3 * i;
    if (static_cast<int>(i) != picture.transparent)
      colors[i] = {has ? color[0] : uint8_t{0}, has ? color[1] : uint8_t{0}, has ? color[2] : uint8_t{0}, 255};
  }
  return colors;
}

// The row of the picture that is stored as row i of an interlaced one.
std::vector<int> interlaced_rows(int height) {
  std::vector<int> rows;
  for (auto [first, step] : {std::pair{0, 8}, {4, 8}, {2, 4}, {1, 2}})
    for (int y = first; y < height; y += step) rows.push_back(y);
  return rows;
}

// What decoding a picture takes: its indices and its colours.
int64_t bytes_of(const Picture& picture) { return int64_t{picture.place.height} * picture.place.width * 5; }

std::vector<uint8_t> colored(Bytes file, const Picture& picture) {
  const auto [y, x, height, width] = picture.place;
  check_extents(height, width, 4);
  check_memory(bytes_of(picture));
  check_ratio(file, int64_t{height} * width, kMostRatio);
  std::vector<uint8_t> indices(size_t(height) * width), pixels(indices.size() * 4);
  Codes(file, picture).expand(indices);
  const Palette colors = palette_of(picture);
  const std::vector<int> rows = picture.interlaced ? interlaced_rows(height) : std::vector<int>();
  for (int row = 0; row < height; ++row) {
    const uint8_t* from = indices.data() + int64_t{row} * width;
    uint8_t* to = pixels.data() + int64_t{4} * width * (rows.empty() ? row : rows[row]);
    for (int i = 0; i < width; ++i) std::memcpy(to + int64_t{4} * i, colors[from[i]].data(), 4);
  }
  return pixels;
}

class GifAnimation : public Animation {
 public:
  GifAnimation(Bytes file, const ImageInfo& info) : file_(file), pictures_(file), canvas_(info.height, info.width) {}

  const uint8_t* next() override {
    const auto picture = pictures_.next();
    if (!picture) refuse("GIF: expected another picture, found none");
    const std::vector<uint8_t> pixels = colored(file_, *picture);
    canvas_.draw({picture->place, pixels.data(), true, picture->disposal});
    return canvas_.pixels();
  }

 private:
  Bytes file_;
  Pictures pictures_;
  Canvas canvas_;
};

class GifFile : public ImageFile {
 public:
  explicit GifFile(Bytes bytes) : ImageFile(bytes) {
    info_ = {.height = static_cast<int>(little_endian(bytes, 8, 2)),
             .width = static_cast<int>(little_endian(bytes, 6, 2))};
    info_.channels = 4, info_.color = ColorModel::rgb_alpha, info_.gray_bits = 14;
    check_extents(info_.height, info_.width, 4);
    const auto first = Pictures(bytes).next();
    if (!first) refuse("GIF: expected a picture, found none");
    check_extents(first->place.height, first->place.width, 4);
    check_ratio(bytes, int64_t{first->place.height} * first->place.width, kMostRatio);
    info_.scratch.always = 4 * int64_t{info_.height} * info_.width + bytes_of(*first);
  }

  ImageDetails details() const override {
    ImageDetails details{.bits = static_cast<int>(little_endian(bytes_, 10, 1) & 7) + 1, .frames = 0};
    Pictures pictures(bytes_);
    int64_t pixels = 0;
    for (auto picture = pictures.next(); picture; picture = pictures.next(), ++details.frames)
      pixels += int64_t{picture->place.height} * picture->place.width + kPixelsOfFrame;
    check_work(pixels, "pixels", kSteps);
    return details;
  }

  std::unique_ptr<Animation> animation() const override { return std::make_unique<GifAnimation>(bytes_, info_); }

  void decode(const DecodeOptions&, const Roi& roi, const PixelRows& out) const override {
    GifAnimation animation(bytes_, info_);
    const uint8_t* canvas = animation.next();
    for (int y = 0; y < roi.height; ++y)
      std::memcpy(out.first + y * out.stride, canvas + (int64_t{roi.y + y} * info_.width + roi.x) * 4,
                  size_t{4} * roi.width);
  }
};

const int registered = register_codec({.name = "GIF",
                                       .endings = {".gif"},
                                       .begins = {"GIF87a", "GIF89a"},
                                       .library = "avida",
                                       .can = {.alpha = true},
                                       .open = open_as<GifFile>});

}  // namespace
}  // namespace avida::codecs
