// From numbers as a FITS file stores them to those of an output.
#pragma once
#include "core/dtype.h"

namespace avida {

// value = stored * scale + zero
struct FitsScaling {
  double scale = 1;
  double zero = 0;
};

// The type that has all values of an image, such as uint16 for stored int16 and an offset of 32768.
DType fits_value_type(DType stored, const FitsScaling& scaling);

// Whether values are stored as the output's elements are, or differ in the sign bit only; then they can be converted
// in place.
bool fits_same_bits(DType stored, const FitsScaling& scaling, DType dtype);

// False if one does not fit. `from` is in the byte order of this machine; `dtype` is an integer, float32 or float64.
[[nodiscard]] bool convert_fits_pixels(DType stored, const void* from, int64_t n, const FitsScaling& scaling,
                                       DType dtype, void* to);

}  // namespace avida
