// The boxes of MP4 and MOV files, which libavformat reads one by one, however many there are.
#pragma once
#include <cstdint>

#include "codecs/video/video_stream.h"

namespace avida::codecs {

// Throws Error if reading the boxes exceeds the limit of work. Any other file passes: its first bytes are no boxes.
void check_boxes(int64_t size, const ReadAt& read);

}  // namespace avida::codecs
