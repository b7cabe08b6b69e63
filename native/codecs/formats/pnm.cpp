// PNM, without a library: P1 to P7.
#include <algorithm>

#include "codecs/bytes.h"

namespace avida::codecs {
namespace {

// The netpbm family: P1 to P6 (bits, gray, colour; as text or binary), and P7 with any number of channels.
struct Header {
  int kind = 0;
  int64_t width = 0, height = 0, channels = 1;
  uint32_t max = 1;
  size_t pixels = 0;  // their offset in the file

  bool is_bits() const { return kind == 1 || kind == 4; }
  bool is_text() const { return kind <= 3; }
  int sample_size() const { return max > 255 ? 2 : 1; }
  int64_t row_size() const { return is_bits() ? (width + 7) / 8 : width * channels * sample_size(); }
};

bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Words, separated by white space and comments.
class Words {
 public:
  Words(Bytes file, size_t at) : file_(file), at_(at) {}

  std::string_view word() {
    skip_space();
    const size_t first = at_;
    while (at_ < file_.size() && !is_space(file_[at_]) && file_[at_] != '#') ++at_;
    return {reinterpret_cast<const char*>(file_.data()) + first, at_ - first};
  }

  uint32_t number(uint32_t most) {
    const std::string_view text = word();
    uint32_t value = 0;
    for (char c : text) {
      if (c < '0' || c > '9' || value > most) break;
      value = value * 10 + (c - '0');
    }
    if (text.empty() || text[0] < '0' || text[0] > '9' || value > most)
      refuse("PNM: expected a number of at most ", most, ", got \"", printable(text), "\"");
    return value;
  }

  // A digit of a P1 image, which needs no white space around it.
  bool bit() {
    skip_space();
    if (at_ >= file_.size() || (file_[at_] != '0' && file_[at_] != '1')) refuse("PNM: expected 0 or 1 at byte ", at_);
    return file_[at_++] == '1';
  }

  size_t at() const { return at_; }

 private:
  static std::string printable(std::string_view text) {
    std::string shown(text.substr(0, 20));
    std::replace_if(shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return shown;
  }

  void skip_space() {
    while (at_ < file_.size() && (is_space(file_[at_]) || file_[at_] == '#')) {
      if (file_[at_++] != '#') continue;
      while (at_ < file_.size() && file_[at_] != '\n') ++at_;
    }
  }

  Bytes file_;
  size_t at_;
};

void parse_pam(Header& header, Words& words) {
  header.channels = 0;
  for (std::string_view word = words.word(); word != "ENDHDR"; word = words.word()) {
    if (word == "WIDTH")
      header.width = words.number(kMaxExtent);
    else if (word == "HEIGHT")
      header.height = words.number(kMaxExtent);
    else if (word == "DEPTH")
      header.channels = words.number(1024);
    else if (word == "MAXVAL")
      header.max = words.number(65535);
    else if (word == "TUPLTYPE")
      words.word();
    else
      refuse("PNM: the header of a P7 file has no end");
  }
}

Header parse(Bytes file) {
  Header header;
  header.kind = file[1] - '0';
  Words words(file, 2);
  if (header.kind == 7) {
    parse_pam(header, words);
  } else {
    header.width = words.number(kMaxExtent), header.height = words.number(kMaxExtent);
    header.channels = header.kind % 3 == 0 ? 3 : 1;
    if (!header.is_bits()) header.max = words.number(65535);
  }
  if (header.max < 1) refuse("PNM: expected a largest value above 0");
  check_extents(header.height, header.width, header.channels);
  header.pixels = words.at() + 1;  // one white space ends the header
  const int64_t samples = header.width * header.height * header.channels;
  // A number needs a digit and a white space, which is optional after the last one; a bit needs a digit.
  part(file, header.pixels,
       header.kind == 1   ? samples
       : header.is_text() ? samples * 2 - 1
                          : header.row_size() * header.height);
  return header;
}

ImageInfo info_of(const Header& header) {
  ImageInfo info;
  info.height = static_cast<int>(header.height), info.width = static_cast<int>(header.width);
  info.channels = static_cast<int>(header.channels);
  info.gray_bits = 14;
  info.dtype = header.max > 255 ? DType::uint16 : DType::uint8;
  constexpr ColorModel kColors[] = {ColorModel::gray, ColorModel::gray_alpha, ColorModel::rgb, ColorModel::rgb_alpha};
  info.color = info.channels <= 4 ? kColors[info.channels - 1] : ColorModel::other;
  info.index_bits = info.channels == 1 ? 8 * header.sample_size() : 0;
  return info;
}

// Reads samples in file order, scaled to the whole range of T unless they are indices.
template <class T>
class Samples {
 public:
  Samples(Bytes file, const Header& header, ImageType type)
      : header_(header),
        words_(file, header.pixels),
        binary_(file.data() + header.pixels),
        raw_(type == ImageType::indices) {}

  void read_row(int64_t y, int64_t x, int64_t width, T* to) {
    if (header_.is_text()) {
      skip_to(y * header_.width + x);
      for (int64_t i = 0; i < width * header_.channels; ++i) to[i] = next_from_text();
      next_ += width;
      return;
    }
    const uint8_t* row = binary_ + y * header_.row_size();
    if (header_.kind == 4) {
      for (int64_t i = x; i < x + width; ++i) *to++ = of_bit(row[i / 8] >> (7 - i % 8) & 1);
      return;
    }
    const uint8_t* from = row + x * header_.channels * sizeof(T);
    if (sizeof(T) == 1 && header_.max == 255) {
      std::memcpy(to, from, width * header_.channels);
      return;
    }
    for (int64_t i = 0; i < width * header_.channels; ++i)
      to[i] = scaled(sizeof(T) == 1 ? from[i] : from[i * 2] << 8 | from[i * 2 + 1]);
  }

 private:
  T scaled(uint32_t value) const {
    constexpr uint32_t kMax = sizeof(T) == 1 ? 255 : 65535;
    const uint32_t max = header_.max;
    if (max == kMax || raw_) return static_cast<T>(value);
    return static_cast<T>((std::min(value, max) * kMax + max / 2) / max);
  }

  // A bit of 1 is black.
  T of_bit(bool bit) const { return raw_ ? bit : bit ? 0 : 255; }

  T next_from_text() { return header_.kind == 1 ? of_bit(words_.bit()) : scaled(words_.number(header_.max)); }

  void skip_to(int64_t pixel) {
    for (int64_t i = next_ * header_.channels; i < pixel * header_.channels; ++i) next_from_text();
    next_ = pixel;
  }

  const Header& header_;
  Words words_;
  const uint8_t* binary_;
  const bool raw_;
  int64_t next_ = 0;  // the next pixel of words_
};

template <class T>
void decode_as(Bytes file, const Header& header, ImageType type, const Roi& roi, const PixelRows& out) {
  Samples<T> samples(file, header, type);
  for (int y = 0; y < roi.height; ++y)
    samples.read_row(roi.y + y, roi.x, roi.width, reinterpret_cast<T*>(out.first + y * out.stride));
}

class PnmFile : public ImageFile {
 public:
  explicit PnmFile(Bytes bytes) : ImageFile(bytes), header_(parse(bytes)) { info_ = info_of(header_); }

  void decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const override {
    if (header_.sample_size() == 1)
      decode_as<uint8_t>(bytes_, header_, options.type, roi, out);
    else
      decode_as<uint16_t>(bytes_, header_, options.type, roi, out);
  }

 private:
  const Header header_;
};

std::unique_ptr<const ImageFile> open(Bytes bytes) {
  const bool is_pnm = bytes.size() > 2 && (is_space(bytes[2]) || bytes[2] == '#');
  return is_pnm ? open_as<PnmFile>(bytes) : nullptr;
}

const int registered = register_codec({.name = "PNM",
                                       .endings = {".pam", ".pbm", ".pgm", ".pnm", ".ppm"},
                                       .begins = {"P1", "P2", "P3", "P4", "P5", "P6", "P7"},
                                       .library = "avida",
                                       .can = {.parts = true, .indices = true, .alpha = true, .wide = true},
                                       .open = open});

}  // namespace
}  // namespace avida::codecs
