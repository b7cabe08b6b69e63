// A look at the headers of a FITS file before cfitsio gets it.
#pragma once
#include "runtime/file.h"

namespace avida {

// Throws where the headers of the first `hdus` units are such that cfitsio would crash: it divides by the extents of
// compressed tiles without looking at them.
void check_fits_headers(const File& file, int hdus);

}  // namespace avida
