// APNG: animations in PNG files.
#pragma once
#include "codecs/codec.h"

namespace avida::codecs {

// 1 for a file without an animation.
int64_t count_apng_frames(Bytes file);
// Null for a file without an animation.
std::unique_ptr<Animation> open_apng(Bytes file, const ImageInfo& info);

}  // namespace avida::codecs
