// Parses the header of .npy files, versions 1.0 to 3.0.
#pragma once
#include <string_view>

#include "core/dtype.h"
#include "core/shape.h"

namespace avida::codecs {

struct NpyHeader {
  DType dtype = DType::none;
  bool big_endian = false, fortran_order = false;
  Shape shape;
  int64_t data = 0;  // the offset of the elements

  int64_t bytes() const { return volume(shape) * size_of(dtype); }
};

constexpr int64_t kNpyPrefix = 12;  // the bytes of a file that npy_header_bytes needs, or less for a shorter file

// The size of the header, including its prefix. `file_bytes` is the size of the file.
int64_t npy_header_bytes(std::string_view prefix, int64_t file_bytes);

// `header` contains at least the header. Throws if the array does not fit into the file.
NpyHeader parse_npy_header(std::string_view header, int64_t file_bytes);

}  // namespace avida::codecs
