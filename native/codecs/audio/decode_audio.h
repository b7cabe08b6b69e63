// Decodes sound: whole or in part, all channels or their mean, at the requested sample rate and in the requested type.
#pragma once
#include "codecs/audio/sound.h"
#include "core/shape.h"

namespace avida::codecs {

struct AudioRequest {
  DType dtype = DType::float32;  // float32 (-1 to 1), int16 or int32 (the whole range)
  bool downmix = false;          // the mean of the channels, without an axis for them
  double quality = 50;           // of resampling, 0 to 100
  double sample_rate = 0;        // in Hz; as stored unless above 0
};

// Throws Error for invalid types and qualities.
void check_audio_request(const AudioRequest& request);

// The shape of the decoded segment, and the decoded segment itself.
Shape audio_shape(const AudioInfo& info, const AudioRequest& request, AudioSegment segment);
void decode_audio(Sound& file, const AudioRequest& request, AudioSegment segment, void* out);

}  // namespace avida::codecs
