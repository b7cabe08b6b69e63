// The EXIF orientation that cameras write into images: APP1 of JPEG, eXIf of PNG, EXIF of WebP, and TIFF itself.
#pragma once
#include "codecs/codec.h"

namespace avida::codecs {

// The orientation in EXIF data, which is a TIFF file, optionally after "Exif\0\0". Returns 1 (upright) if there is none
// or the data is corrupt: the image can still be decoded.
int exif_orientation(Bytes exif);

// Whether the orientation swaps rows and columns.
constexpr bool transposes(int orientation) { return orientation >= 5; }

}  // namespace avida::codecs
