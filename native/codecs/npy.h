// The header of NumPy's .npy files, versions 1.0 to 3.0.
#pragma once
#include <string_view>

#include "core/dtype.h"
#include "core/shape.h"

namespace avida {

struct NpyHeader {
  DType dtype = DType::none;
  bool big_endian = false, fortran_order = false;
  Shape shape;
  int64_t data = 0;  // where the elements begin

  int64_t bytes() const { return volume(shape) * size_of(dtype); }
};

constexpr int64_t kNpyPrefix = 12;  // what npy_header_bytes needs of a file, if that is so long

// How many bytes the header has, its prefix included. `file_bytes` is the size of the file.
int64_t npy_header_bytes(std::string_view prefix, int64_t file_bytes);

// `header` begins with the file and has at least the header's bytes. The array fits into the file.
NpyHeader parse_npy_header(std::string_view header, int64_t file_bytes);

}  // namespace avida
