#include "codecs/audio/audio_formats.h"

#include <utility>
#include <vector>

namespace avida::codecs {
namespace {

std::vector<AudioFormat>& registry() {
  static std::vector<AudioFormat> formats;
  return formats;
}

}  // namespace

int register_audio_format(AudioFormat format) {
  registry().push_back(std::move(format));
  return static_cast<int>(registry().size());
}

std::span<const AudioFormat> audio_formats() { return registry(); }

}  // namespace avida::codecs
