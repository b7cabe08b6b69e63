// The sound formats of this build, which depend on the library.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace avida::codecs {

struct AudioFormat {
  std::string name, library;
  std::vector<std::string_view> endings;  // of file names, in lower case
};
// The file over the library adds its own when the module is loaded.
std::vector<AudioFormat>& audio_formats();

}  // namespace avida::codecs
