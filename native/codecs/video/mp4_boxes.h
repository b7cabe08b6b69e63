// The boxes of MP4 and MOV files, which libavformat reads one by one, however many there are.
#pragma once
#include "storage/storage.h"

namespace avida::codecs {

// Throws Error if reading the boxes exceeds the limit of work. Any other file passes: its first bytes are no boxes.
void check_boxes(const storage::Object& file);

}  // namespace avida::codecs
