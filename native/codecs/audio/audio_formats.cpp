#include "codecs/audio/audio_formats.h"

namespace avida::codecs {

std::vector<AudioFormat>& audio_formats() {
  static std::vector<AudioFormat> formats;
  return formats;
}

}  // namespace avida::codecs
