// The orientation that cameras write into images: APP1 of JPEG, eXIf of PNG, EXIF of WebP, and TIFF itself.
#pragma once
#include "codecs/codec.h"

namespace avida::codecs {

// The orientation in EXIF data, which is a TIFF file, perhaps after the mark "Exif\0\0". 1 (upright) where there is
// none or the data is broken: a picture is worth more than its notes.
int exif_orientation(Bytes exif);

// Whether the orientation exchanges rows and columns.
constexpr bool transposes(int orientation) { return orientation >= 5; }

}  // namespace avida::codecs
