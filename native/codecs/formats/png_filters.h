// Undoes the filters of PNG's rows, several rows at once.
#pragma once
#include <cstdint>

namespace avida::codecs {

// Rows as a PNG file has them, one behind the other: a filter from 0 to 4, then `bytes` bytes.
struct FilteredRows {
  const uint8_t* from;
  int64_t bytes;
  int pixel;             // bytes from a sample to the same one of the next pixel: 1, 2, 3, 4, 6 or 8
  const uint8_t* above;  // the finished row above the first
  uint8_t* to;
  int64_t stride;
};

// As many rows as are done at once, at most.
constexpr int kFilteredRows = 4;
// What may be read behind each row of `from` and `above`.
constexpr int kFilterMargin = 8;

// Writes the first `rows` rows, 1 to kFilteredRows.
void undo_filters(const FilteredRows& filtered, int rows);

}  // namespace avida::codecs
