// Lossless JPEG (ITU-T T.81, process 14): each sample is predicted from its neighbours, and the difference is Huffman
// coded. Medical and raw images use it; libjpeg-turbo 2 does not support it.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "codecs/bytes.h"
#include "codecs/jpeg/jpeg_header.h"
#include "runtime/memory.h"

namespace avida::codecs {
namespace {

constexpr int64_t kMostShrinking = 64;  // a sample takes at least one bit, and two bytes in memory
constexpr int kMostComponents = 4;

struct HuffmanTable {
  static constexpr int kLookBits = 9;
  struct Entry {
    uint8_t length = 0, symbol = 0;
  };
  bool defined = false;
  std::array<Entry, 1 << kLookBits> quick{};        // codes of at most kLookBits bits
  std::array<int32_t, 17> last_code{}, first_at{};  // the last code of each length, and the index of its first symbol
  std::array<uint8_t, 256> symbols{};

  void define(Bytes counts, Bytes values) {
    *this = {};
    std::copy(values.begin(), values.end(), symbols.begin());
    int code = 0, at = 0;
    for (int length = 1; length <= 16; length++) {
      int count = counts[length - 1];
      if (code + count > 1 << length) refuse("a Huffman table has more codes than fit");
      first_at[length] = at - code;
      for (int i = 0; i < count; i++, code++, at++) {
        if (values[at] > 16) refuse("expected differences of at most 16 bits, got ", int{values[at]});
        if (length > kLookBits) continue;
        int first = code << (kLookBits - length);
        std::fill_n(quick.begin() + first, 1 << (kLookBits - length), Entry{static_cast<uint8_t>(length), values[at]});
      }
      last_code[length] = count ? code - 1 : -1;
      code <<= 1;
    }
    defined = true;
  }
};

struct Component {
  int id = 0, table = 0;
};

struct Frame {
  int precision = 0, height = 0, width = 0;
  std::vector<Component> components;  // in the order of the frame, which is that of the channels
};

struct Scan {
  std::vector<Component> components;
  int predictor = 0, shift = 0;
};

// The bits of the entropy-coded data. A byte of 255 is followed by a stuffed 0; otherwise it begins a marker, which
// ends the data.
class BitReader {
 public:
  explicit BitReader(Bytes data) : data_(data) {}

  int symbol(const HuffmanTable& table) {
    fill();
    auto entry = table.quick[peek(HuffmanTable::kLookBits)];
    if (entry.length) return skip(entry.length), entry.symbol;
    for (int length = HuffmanTable::kLookBits + 1; length <= 16; length++) {
      int code = static_cast<int>(peek(length));
      if (code > table.last_code[length]) continue;
      skip(length);
      int at = table.first_at[length] + code;
      if (at >= 0 && at < 256) return table.symbols[at];
      break;
    }
    refuse("the data is corrupt: it has a code that is in no Huffman table");
  }

  // Reads a difference of `bits` bits; the leading bit is its sign.
  int difference(int bits) {
    if (bits == 0) return 0;
    if (bits == 16) return 32768;  // the one value that needs no bits
    fill();
    int value = static_cast<int>(peek(bits));
    skip(bits);
    return value < 1 << (bits - 1) ? value - (1 << bits) + 1 : value;
  }

  // Skips to the end of the next restart marker.
  void restart() {
    held_ = 0;
    count_ = missing_ = 0;
    while (at_ + 1 < data_.size() && !(data_[at_] == 0xFF && data_[at_ + 1] >= 0xD0 && data_[at_ + 1] <= 0xD7)) {
      bool stuffed = data_[at_] != 0xFF || data_[at_ + 1] == 0 || data_[at_ + 1] == 0xFF;
      if (!stuffed) refuse("expected a restart marker, got the marker ", int{data_[at_ + 1]});
      at_++;
    }
    at_ += 2;
    if (at_ > data_.size()) refuse("the file is truncated");
  }

  size_t position() const { return at_; }

 private:
  uint32_t peek(int bits) const { return static_cast<uint32_t>(held_ >> (count_ - bits)) & ((1u << bits) - 1); }
  void skip(int bits) {
    count_ -= bits;
    if (count_ < missing_) refuse("the file is truncated");
  }
  // Buffers at least 32 bits; after the end of the data these are zeros, which must not be used.
  void fill() {
    while (count_ <= 32) {
      uint8_t byte = 0;
      bool marker = at_ + 1 < data_.size() && data_[at_] == 0xFF && data_[at_ + 1] != 0;
      if (at_ >= data_.size() || marker)
        missing_ += 8;
      else {
        byte = data_[at_];
        at_ += byte == 0xFF ? 2 : 1;
      }
      held_ = held_ << 8 | byte;
      count_ += 8;
    }
  }

  Bytes data_;
  size_t at_ = 0;
  uint64_t held_ = 0;
  int count_ = 0, missing_ = 0;
};

int predict(int predictor, int left, int above, int corner) {
  switch (predictor) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return corner;
    case 4:
      return left + above - corner;
    case 5:
      return left + ((above - corner) >> 1);
    case 6:
      return above + ((left - corner) >> 1);
    default:
      return (left + above) >> 1;
  }
}

ImageInfo info_of(const JpegHeader& header) {
  if (header.precision < 2 || header.precision > 16) refuse("expected 2 to 16 bits per sample, got ", header.precision);
  if (header.components > kMostComponents)
    refuse("expected at most ", kMostComponents, " channels, got ", header.components);
  ImageInfo info{.height = header.height, .width = header.width, .channels = header.components};
  info.dtype = header.precision <= 8 ? DType::uint8 : DType::uint16;
  info.color = header.components == 1 ? ColorModel::gray : header.components == 3 ? ColorModel::rgb : ColorModel::other;
  info.orientation = header.orientation;
  info.index_bits = header.components == 1 ? header.precision : 0;
  info.scratch.always = int64_t{2} * header.height * header.width * header.components;
  return info;
}

class Decoder {
 public:
  Decoder(Bytes file, const JpegHeader& planned) : file_(file), planned_(planned) {}

  // The stored samples, with interleaved channels.
  Block decode() {
    size_t at = 2;
    unsigned missing = ~0u;  // a bit for each channel that has not been decoded
    while (missing) {
      while (big_endian(file_, at, 1) != 0xFF) at++;
      while (big_endian(file_, at, 1) == 0xFF) at++;
      int marker = file_[at++];
      if (marker == 0xD9) refuse("the image ends before all of its channels are decoded");
      if (marker == 0 || marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) continue;
      uint32_t size = big_endian(file_, at, 2);
      if (size < 2) refuse("expected a segment of at least 2 bytes at byte ", at, ", got ", size);
      Bytes segment = part(file_, at + 2, size - 2);
      at += size;
      if (marker == 0xC4) read_tables(segment);
      if (marker == 0xDD) restart_interval_ = static_cast<int>(big_endian(segment, 0, 2));
      if (marker == kLosslessFrame) read_frame(segment);
      if (marker != 0xDA) continue;
      if (frame_.components.empty()) refuse("expected a frame before its first scan");
      Scan scan = read_scan(segment);
      at += decode_scan(scan, file_.subspan(at));
      for (const Component& component : scan.components) missing &= ~(1u << channel_of(component));
      missing &= (1u << frame_.components.size()) - 1;
    }
    return pixels_;
  }

 private:
  void read_tables(Bytes segment) {
    for (size_t at = 0; at < segment.size();) {
      uint32_t place = big_endian(segment, at, 1);
      Bytes counts = part(segment, at + 1, 16);
      size_t total = 0;
      for (uint8_t count : counts) total += count;
      if ((place & 15) > 3 || total > 256) refuse("a Huffman table is corrupt");
      Bytes values = part(segment, at + 17, total);
      if (place >> 4 == 0) tables_[place & 15].define(counts, values);
      at += 17 + total;
    }
  }

  void read_frame(Bytes segment) {
    if (!frame_.components.empty()) refuse("expected one frame, got another");
    frame_.precision = static_cast<int>(big_endian(segment, 0, 1));
    frame_.height = static_cast<int>(big_endian(segment, 1, 2));
    frame_.width = static_cast<int>(big_endian(segment, 3, 2));
    int count = static_cast<int>(big_endian(segment, 5, 1));
    if (frame_.precision != planned_.precision || frame_.height != planned_.height || frame_.width != planned_.width ||
        count != planned_.components)
      refuse(kChangedText);
    for (int i = 0; i < count; i++) {
      frame_.components.push_back({.id = static_cast<int>(big_endian(segment, 6 + 3 * i, 1))});
      if (count > 1 && big_endian(segment, 7 + 3 * i, 1) != 0x11)
        refuse("lossless JPEG with channels of different size is not supported");
    }
    pixels_ = allocate(int64_t{2} * frame_.height * frame_.width * count);
  }

  Scan read_scan(Bytes segment) {
    Scan scan;
    int count = static_cast<int>(big_endian(segment, 0, 1));
    for (int i = 0; i < count; i++) {
      Component component{.id = static_cast<int>(big_endian(segment, 1 + 2 * i, 1)),
                          .table = static_cast<int>(big_endian(segment, 2 + 2 * i, 1) >> 4)};
      if (component.table > 3 || !tables_[component.table].defined)
        refuse("a scan uses a Huffman table that is not defined");
      scan.components.push_back(component);
    }
    scan.predictor = static_cast<int>(big_endian(segment, 1 + 2 * count, 1));
    scan.shift = static_cast<int>(big_endian(segment, 3 + 2 * count, 1) & 15);
    if (scan.components.empty() || scan.predictor < 1 || scan.predictor > 7 || scan.shift >= frame_.precision)
      refuse("a scan header is corrupt");
    return scan;
  }

  int channel_of(const Component& component) const {
    for (size_t c = 0; c < frame_.components.size(); c++)
      if (frame_.components[c].id == component.id) return static_cast<int>(c);
    refuse("a scan has a channel that its frame does not have");
  }

  size_t decode_scan(const Scan& scan, Bytes data) {
    const int channels = static_cast<int>(frame_.components.size()), width = frame_.width;
    const int64_t row = int64_t{width} * channels;
    const int middle = 1 << (frame_.precision - scan.shift - 1);
    if (restart_interval_ % width) refuse("expected restart markers at the beginning of rows only");
    const int rows_between = restart_interval_ / width;
    std::vector<int> places;
    for (const Component& component : scan.components) places.push_back(channel_of(component));

    BitReader bits(data);
    for (int y = 0; y < frame_.height; y++) {
      bool first_row = y == 0 || (rows_between && y % rows_between == 0);
      if (first_row && y) bits.restart();
      uint16_t* out = static_cast<uint16_t*>(pixels_.get()) + row * y;
      for (int x = 0; x < width; x++)
        for (size_t c = 0; c < places.size(); c++) {
          uint16_t* sample = out + int64_t{x} * channels + places[c];
          auto before = [&](int64_t distance) { return sample[-distance] >> scan.shift; };
          int expected;
          if (first_row)
            expected = x ? before(channels) : middle;
          else if (x == 0)
            expected = before(row);
          else
            expected = predict(scan.predictor, before(channels), before(row), before(row + channels));
          int difference = bits.difference(bits.symbol(tables_[scan.components[c].table]));
          *sample = static_cast<uint16_t>((expected + difference) << scan.shift);
        }
    }
    return bits.position();
  }

  Bytes file_;
  const JpegHeader& planned_;
  Frame frame_;
  std::array<HuffmanTable, 4> tables_;
  int restart_interval_ = 0;  // in pixels; 0: none
  Block pixels_;
};

// Samples of fewer bits are scaled to the whole range of the type, unless they are indices.
template <class T>
void write_rows(const uint16_t* in, const ImageInfo& info, ImageType type, int precision, const Roi& roi,
                const PixelRows& out) {
  const uint32_t most = (1u << precision) - 1;
  const uint32_t range = type == ImageType::indices ? most : std::numeric_limits<T>::max();
  for (int y = 0; y < roi.height; y++) {
    const uint16_t* from = in + (int64_t{roi.y + y} * info.width + roi.x) * info.channels;
    T* to = reinterpret_cast<T*>(out.first + out.stride * y);
    for (int64_t i = 0; i < int64_t{roi.width} * info.channels; i++)
      to[i] = static_cast<T>((std::min<uint32_t>(from[i], most) * range + most / 2) / most);
  }
}

class LosslessFile : public JpegFile {
 public:
  explicit LosslessFile(Bytes bytes) : JpegFile(bytes) {}

  void describe() {
    info_ = info_of(header_);
    check_ratio(bytes_, info_.scratch.always, kMostShrinking);
  }

  void decode(const DecodeOptions& options, const Roi& roi, const PixelRows& out) const override {
    const Block pixels = std::make_unique<Decoder>(bytes_, header_)->decode();
    auto* samples = static_cast<const uint16_t*>(pixels.get());
    (info_.dtype == DType::uint8 ? write_rows<uint8_t> : write_rows<uint16_t>)(samples, info_, options.type,
                                                                               header_.precision, roi, out);
  }
};

std::unique_ptr<const ImageFile> open_file(Bytes bytes) {
  auto file = std::make_unique<LosslessFile>(bytes);
  if (file->header().frame != kLosslessFrame) return nullptr;
  file->describe();
  return file;
}

[[maybe_unused]] const int kRegistered = register_codec({.name = "lossless JPEG",
                                                         .endings = {".jpg"},
                                                         .begins = {kJpegBegin},
                                                         .library = "avida",
                                                         .can = {.indices = true, .wide = true},
                                                         .open = open_file});

}  // namespace
}  // namespace avida::codecs
