// Demosaics rows of an image by a variable number of gradients (vng.h) on the CPU.
#pragma once
#include <cstdint>
#include <vector>

namespace avida::ops {

// Makes the rows of an image, one after the other. Five rows around the one in work are kept, split into even and odd
// columns: green pixels are every second one, and so are the pixels of their row that are computed alike.
class VngRows {
 public:
  VngRows(const uint8_t* image, int64_t height, int64_t width, int blue_row, int blue_column);
  void make(uint8_t* out, int64_t y);

 private:
  void split_up_to(int64_t last);

  const uint8_t* image_;
  int64_t height_, width_, next_ = -2, plane_;
  int blue_row_, blue_column_;
  std::vector<int16_t> planes_;
};

}  // namespace avida::ops
