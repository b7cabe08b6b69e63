#include "codecs/audio/audio_formats.h"

#include "core/made_once.h"

namespace avida::codecs {

std::vector<AudioFormat>& audio_formats() {
  static constinit MadeOnce<std::vector<AudioFormat>> formats;
  return formats.get();
}

}  // namespace avida::codecs
