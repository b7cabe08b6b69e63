// Sound as a user wants it: whole or in part, all channels or their mean, at the wanted rate and in the wanted type.
#pragma once
#include "codecs/audio.h"
#include "core/shape.h"

namespace avida::ops {

struct AudioRequest {
  DType dtype = DType::float32;  // float32 (-1 to 1), int16 or int32 (the whole range)
  bool downmix = false;          // the mean of the channels, and no axis for them
  double quality = 50;           // of resampling, 0 to 100
  double sample_rate = 0;        // in Hz; as stored unless above 0
};

// Throws Error for types and qualities that do not exist.
void check_audio_request(const AudioRequest& request);

// Frames of a file, from the first one to before the last.
struct AudioSegment {
  int64_t begin, end;
};

// The shape of the decoded segment, and the decoded segment itself.
Shape audio_shape(const codecs::AudioInfo& info, const AudioRequest& request, AudioSegment segment);
void decode_audio(codecs::AudioFile& file, const AudioRequest& request, AudioSegment segment, void* out);

}  // namespace avida::ops
