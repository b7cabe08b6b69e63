#include "readers/fits/fits_tiles.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/byte_order.h"
#include "core/error.h"

namespace avida {
namespace {

constexpr int64_t kWindow = 64 << 10;
constexpr int64_t kMostRiceBlock = 256;  // pixels; a block may take only 3 bits. Files use 16 or 32 pixels
constexpr int64_t kMostOverhead = 4096;  // bytes; a compressed tile is not much larger than its pixels

// A number of a table, in the file's byte order.
template <class T>
T big_endian(const unsigned char* from) {
  T number;
  std::memcpy(&number, from, sizeof(T));
  swap_bytes(&number, 1, sizeof(T));
  return number;
}

int bytes_of(char type) {
  switch (type) {
    case 'L':
    case 'B':
    case 'A':
      return 1;
    case 'I':
      return 2;
    case 'J':
    case 'E':
      return 4;
    case 'K':
    case 'D':
    case 'C':
    case 'P':
      return 8;
    case 'M':
    case 'Q':
      return 16;
  }
  refuse("unknown column type in the table: ", type);
}

}  // namespace

// Reads consecutive parts of a table, with read-ahead.
class TableWindow {
 public:
  TableWindow(FitsBytes& file, int64_t begin, int64_t bytes) : file_(file), begin_(begin), bytes_(bytes) {}

  int64_t size() const { return bytes_; }
  // Valid until the next call; kBytesBeyond more bytes are readable.
  const unsigned char* at(int64_t offset, int64_t bytes) {
    if (offset < offset_ || offset + bytes > offset_ + held_) {
      held_ = 0;
      int64_t some = std::min(std::max(bytes, kWindow), bytes_ - offset);
      buffer_.resize(std::max(std::ssize(buffer_), some + kBytesBeyond));
      file_.read_at(begin_ + offset, buffer_.data(), some);
      offset_ = offset;
      held_ = some;
    }
    return buffer_.data() + (offset - offset_);
  }

 private:
  FitsBytes& file_;
  int64_t begin_, bytes_;
  int64_t offset_ = 0, held_ = 0;
  std::vector<unsigned char> buffer_;
};

// The region of the image that a tile covers.
struct TiledImage::Tile {
  int64_t number = 0;
  int64_t start = 0;  // its first pixel in the image
  int64_t pixels = 1;
  std::vector<int64_t> extents;
};

TiledImage::TiledImage(const FitsUnit& unit) : stored_(unit.header.element_type("ZBITPIX")) {
  const FitsHeader& header = unit.header;
  data_ = unit.data;
  row_bytes_ = header.integer("NAXIS1");
  rows_ = header.integer("NAXIS2");
  if (header.integer("NAXIS") != 2 || header.integer("BITPIX") != 8)
    refuse("expected a binary table that contains a compressed image");
  int64_t table = row_bytes_ * rows_;  // part of the unit's bytes, so this is in range
  int64_t heap = header.integer("THEAP", table);
  if (heap < table || heap > unit.bytes)
    refuse("the heap of the table begins at ", heap, ", outside of its ", unit.bytes, " bytes");
  heap_ = data_ + heap;
  heap_bytes_ = unit.bytes - heap;

  int64_t axes = header.positive("ZNAXIS"), tiles = 1, elements = 1;
  if (axes > kMaxDim) refuse("the image has more than ", kMaxDim, " axes: ", axes);
  bool fits = true;
  for (int64_t d = 1; d <= axes; d++) {
    extents_.push_back(header.positive(str("ZNAXIS", d)));
    int64_t extent = header.positive(str("ZTILE", d), d == 1 ? extents_[0] : 1);
    tile_extents_.push_back(std::min(extent, extents_.back()));
    fits = fits && !__builtin_mul_overflow(elements, extents_.back(), &elements);
    if (fits) tiles *= (extents_.back() + extent - 1) / extent;  // not more than elements
  }
  if (!fits || elements / kMostDeflate > heap_bytes_)
    refuse("the image has more elements than the file can hold: ", heap_bytes_, " compressed bytes");
  if (tiles > rows_) refuse("expected a row for each of ", tiles, " tiles, the table has ", rows_);
  columns_ = find_columns(header);
  set_packing(header);
  if (is_float(stored_)) set_quantization(header);
}

Shape TiledImage::shape() const {
  Shape shape;
  for (size_t d = extents_.size(); d-- > 0;) shape.push_back(extents_[d]);
  return shape;
}

TiledImage::Columns TiledImage::find_columns(const FitsHeader& header) const {
  Columns columns;
  int64_t at = 0;
  for (int64_t i = 1; i <= std::min<int64_t>(header.integer("TFIELDS"), 999); i++) {
    // For example "D", "1PB(1234)" or "3X".
    std::string name = header.text(str("TTYPE", i)), form = header.text(str("TFORM", i));
    size_t letter = form.find_first_not_of("0123456789");
    if (letter == std::string::npos || letter > 9) refuse("expected a column type in the table, got \"", form, '"');
    int64_t repeat = letter == 0 ? 1 : std::stoll(form.substr(0, letter));
    Column column{.at = at, .type = form[letter]};
    at += column.type == 'X' ? (repeat + 7) / 8 : repeat * bytes_of(column.type);
    if (at > row_bytes_) refuse("the columns of the table are wider than its rows");
    if (repeat == 0) continue;
    if (column.type == 'P' || column.type == 'Q')
      column.heap_bytes = bytes_of(letter + 1 < form.size() ? form[letter + 1] : 0);
    for (auto [known, place] : {std::pair{"COMPRESSED_DATA", &columns.packed},
                                {"GZIP_COMPRESSED_DATA", &columns.gzip},
                                {"UNCOMPRESSED_DATA", &columns.raw},
                                {"ZSCALE", &columns.scale},
                                {"ZZERO", &columns.zero},
                                {"ZBLANK", &columns.blank}})
      if (name == known) *place = column;
  }
  for (auto& column : {columns.packed, columns.gzip, columns.raw})
    if (column && column->heap_bytes == 0) refuse("expected tiles of variable length in the table");
  return columns;
}

void TiledImage::set_packing(const FitsHeader& header) {
  std::string name = header.text("ZCMPTYPE");
  if (name == "GZIP_1") {
    packing_ = Packing::gzip;
  } else if (name == "GZIP_2") {
    packing_ = Packing::shuffled_gzip;
  } else if (name == "RICE_1" || name == "RICE_ONE") {
    packing_ = Packing::rice;
    for (int i = 1; header.has(str("ZNAME", i)) && i <= 999; i++) {
      std::string parameter = header.text(str("ZNAME", i));
      if (parameter == "BLOCKSIZE") rice_.block = header.positive(str("ZVAL", i));
      if (parameter == "BYTEPIX") rice_.pixel_bytes = header.positive(str("ZVAL", i));
    }
    if (rice_.block > kMostRiceBlock || (rice_.pixel_bytes != 1 && rice_.pixel_bytes != 2 && rice_.pixel_bytes != 4))
      refuse("expected blocks of at most ", kMostRiceBlock, " pixels of 1, 2 or 4 bytes, got ", rice_.block,
             " pixels of ", rice_.pixel_bytes);
  } else if (name != "NOCOMPRESS") {
    refuse("the compression ", name.empty() ? "without a name" : name,
           " is not supported; GZIP_1, GZIP_2, RICE_1 and NOCOMPRESS are");
  }
}

void TiledImage::set_quantization(const FitsHeader& header) {
  using Dither = Quantization::Dither;
  std::string method = header.text("ZQUANTIZ");
  quantized_ = method != "NONE" && (columns_.scale || header.has("ZSCALE"));
  if (!quantized_) return;
  if (method == "SUBTRACTIVE_DITHER_1")
    quantization_.dither = Dither::subtractive;
  else if (method == "SUBTRACTIVE_DITHER_2")
    quantization_.dither = Dither::subtractive_but_zeros;
  else if (!method.empty() && method != "NO_DITHER")
    refuse("the quantization ", method,
           " is not supported; NO_DITHER, SUBTRACTIVE_DITHER_1 and SUBTRACTIVE_DITHER_2 are");
  quantization_.seed = header.positive("ZDITHER0", 1) - 1;
  quantization_.scale = header.number("ZSCALE", 1);
  quantization_.zero = header.number("ZZERO", 0);
  if (header.has("ZBLANK")) quantization_.blank = header.integer("ZBLANK");
}

TiledImage::Tile TiledImage::place_of(int64_t number) const {
  Tile tile{.number = number};
  int64_t stride = 1;
  for (size_t d = 0; d < extents_.size(); d++) {
    int64_t tiles = (extents_[d] + tile_extents_[d] - 1) / tile_extents_[d];
    int64_t first = number % tiles * tile_extents_[d];
    number /= tiles;
    tile.start += first * stride;
    stride *= extents_[d];
    tile.extents.push_back(std::min(tile_extents_[d], extents_[d] - first));
    tile.pixels *= tile.extents.back();
  }
  return tile;
}

ByteSpan TiledImage::heap_part(const std::optional<Column>& column, const unsigned char* row, TableWindow& heap,
                               int64_t pixels) const {
  if (!column) return {};
  row += column->at;
  bool wide = column->type == 'Q';
  int64_t elements = wide ? big_endian<int64_t>(row) : big_endian<int32_t>(row);
  int64_t offset = wide ? big_endian<int64_t>(row + 8) : big_endian<int32_t>(row + 4);
  int64_t bytes = 0;
  if (elements < 0 || offset < 0 || __builtin_mul_overflow(elements, column->heap_bytes, &bytes) ||
      bytes > heap.size() || offset > heap.size() - bytes)
    refuse("a tile of ", elements, " elements at ", offset, " is outside of the heap of ", heap.size(), " bytes");
  if (bytes == 0) return {};
  if (pixels / kMostDeflate > bytes || bytes / 16 > pixels + kMostOverhead)
    refuse("a tile of ", pixels, " pixels cannot have ", bytes, " compressed bytes");
  return {heap.at(offset, bytes), static_cast<size_t>(bytes)};
}

DType TiledImage::unpack(TileUnpacker& unpacker, const unsigned char* row, TableWindow& heap, const Tile& tile) const {
  int64_t n = tile.pixels;
  ByteSpan packed = heap_part(columns_.packed, row, heap, n);
  if (packed.empty()) {  // a tile that could not be compressed with the method of the others
    if (packed = heap_part(columns_.gzip, row, heap, n); !packed.empty())
      return unpacker.gzip(packed, n, stored_, false);
    if (packed = heap_part(columns_.raw, row, heap, n); !packed.empty()) return unpacker.raw(packed, n, stored_);
    refuse("tile ", tile.number, " has no data");
  }
  DType expected = quantized_ ? DType::int32 : stored_;
  DType found = packing_ == Packing::rice   ? unpacker.rice(packed, n, rice_)
                : packing_ == Packing::none ? unpacker.raw(packed, n, expected)
                                            : unpacker.gzip(packed, n, expected, packing_ == Packing::shuffled_gzip);
  if (!quantized_) return found;

  auto number = [&](const std::optional<Column>& column, double otherwise) -> double {
    if (!column) return otherwise;
    const unsigned char* at = row + column->at;
    if (column->type == 'D') return big_endian<double>(at);
    if (column->type == 'E') return big_endian<float>(at);
    if (column->type == 'J') return big_endian<int32_t>(at);
    refuse("expected columns of numbers in the table, got type ", column->type);
  };
  Quantization quantization = quantization_;
  quantization.scale = number(columns_.scale, quantization.scale);
  quantization.zero = number(columns_.zero, quantization.zero);
  quantization.seed += tile.number;
  if (columns_.blank && columns_.blank->type == 'J') quantization.blank = big_endian<int32_t>(row + columns_.blank->at);
  return unpacker.unquantize(found, n, quantization, stored_);
}

bool TiledImage::read(FitsBytes& file, const FitsScaling& scaling, DType dtype, void* to) const {
  TableWindow table(file, data_, row_bytes_ * rows_), heap(file, heap_, heap_bytes_);
  TileUnpacker unpacker;
  int size = size_of(dtype);
  int64_t tiles = 1;
  for (size_t d = 0; d < extents_.size(); d++) tiles *= (extents_[d] + tile_extents_[d] - 1) / tile_extents_[d];
  for (int64_t number = 0; number < tiles; number++) {
    Tile tile = place_of(number);
    DType stored = unpack(unpacker, table.at(number * row_bytes_, row_bytes_), heap, tile);

    // Pixels that are contiguous in the image are converted together: at least those of a row.
    size_t axis = 0;
    int64_t run = 1, stride = 1;
    do {
      run *= tile.extents[axis];
      stride *= extents_[axis];
    } while (tile.extents[axis] == extents_[axis] && ++axis < extents_.size());
    axis = std::min(axis + 1, extents_.size());
    std::vector<int64_t> index(extents_.size());
    auto from = static_cast<const char*>(unpacker.pixels());
    int64_t at = tile.start;
    for (int64_t done = 0; done < tile.pixels; done += run) {
      if (!convert_fits_pixels(stored, from + done * size_of(stored), run, scaling, dtype,
                               static_cast<char*>(to) + at * size))
        return false;
      int64_t step = stride;
      for (size_t d = axis; d < extents_.size(); d++) {
        at += step;
        if (++index[d] < tile.extents[d]) break;
        at -= step * tile.extents[d];
        index[d] = 0;
        step *= extents_[d];
      }
    }
  }
  return true;
}

}  // namespace avida
