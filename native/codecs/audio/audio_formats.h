// The sound formats of this build, which depend on the library.
#pragma once
#include <span>
#include <string>

namespace avida::codecs {

struct AudioFormat {
  std::string name, library;
};
// Called from a static initialiser in the file over the library.
int register_audio_format(AudioFormat format);
std::span<const AudioFormat> audio_formats();

}  // namespace avida::codecs
