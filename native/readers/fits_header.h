// A look at the headers of a FITS file before cfitsio gets it.
#pragma once
#include "runtime/file.h"

namespace avida {

// Throws where the headers of the first `hdus` units are such that cfitsio would crash: it divides by what they say of
// compressed tiles without looking at it. What is in the tiles is not checked.
void check_fits_headers(const File& file, int hdus);

}  // namespace avida
