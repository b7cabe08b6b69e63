// Reads images that are compressed tile by tile. A table has a row for each tile.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/shape.h"
#include "readers/fits/fits_header.h"
#include "readers/fits/fits_pixels.h"
#include "readers/fits/fits_unpack.h"

namespace avida {

class TiledImage {
 public:
  // Throws if the image is larger than the unit's data can hold, and for unsupported compressions.
  explicit TiledImage(const FitsUnit& unit);

  static bool is_in(const FitsHeader& header) { return header.is_true("ZIMAGE"); }
  DType stored() const { return stored_; }
  Shape shape() const;  // the axis that changes fastest is the last
  // Returns false if a number does not fit.
  bool read(FitsBytes& file, const FitsScaling& scaling, DType dtype, void* to) const;

 private:
  enum class Packing { gzip, shuffled_gzip, rice, none };
  struct Column {
    int64_t at = 0;      // the offset in a row
    char type = 0;       // of a number; P and Q are references to the heap
    int heap_bytes = 0;  // the size of an element in the heap
  };
  struct Columns {
    std::optional<Column> packed, gzip, raw, scale, zero, blank;
  };
  struct Tile;

  Columns find_columns(const FitsHeader& header) const;
  void set_packing(const FitsHeader& header);
  void set_quantization(const FitsHeader& header);
  Tile place_of(int64_t tile) const;
  DType unpack(TileUnpacker& unpacker, const unsigned char* row, class TableWindow& heap, const Tile& tile) const;
  // The heap data that a row refers to; empty if there is none.
  ByteSpan heap_part(const std::optional<Column>& column, const unsigned char* row, class TableWindow& heap,
                     int64_t pixels) const;

  int64_t data_, row_bytes_, rows_;
  int64_t heap_, heap_bytes_;
  DType stored_;
  std::vector<int64_t> extents_, tile_extents_;  // the first axis changes fastest
  Columns columns_;
  Packing packing_ = Packing::none;
  RiceParameters rice_;
  bool quantized_ = false;
  Quantization quantization_;  // the part that is common to all tiles
};

}  // namespace avida
