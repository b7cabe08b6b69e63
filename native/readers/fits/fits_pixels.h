// Converts stored FITS values to elements of an output: byte order, scaling, type.
#pragma once
#include "core/dtype.h"

namespace avida {

// value = stored * scale + zero
struct FitsScaling {
  double scale = 1;
  double zero = 0;
};

// The type that can represent all values of an image, such as uint16 for stored int16 and an offset of 32768.
DType fits_value_type(DType stored, const FitsScaling& scaling);

// Whether stored values equal the output's elements, or differ only in the sign bit; then they can be converted in
// place.
bool fits_same_bits(DType stored, const FitsScaling& scaling, DType dtype);

// Returns false if a number does not fit. `from` is in native byte order; `dtype` is an integer, float32 or float64.
[[nodiscard]] bool convert_fits_pixels(DType stored, const void* from, int64_t n, const FitsScaling& scaling,
                                       DType dtype, void* to);

}  // namespace avida
