// The source of readers.NemoAsr: speech and transcripts, from manifests of JSON lines that name sound files.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "codecs/audio/decode_audio.h"
#include "readers/source.h"

namespace avida {

struct NemoAsrOptions {
  codecs::AudioRequest audio;
  double min_duration = 0, max_duration = 0;  // in seconds, according to the manifest; no limit unless above 0
  bool read_sample_rate = true, read_text = true, read_idxs = false;
  bool read_ahead = false;
};

// The lines of manifests that are invalid.
struct SkippedLines {
  int64_t count = 0;
  std::string first;  // the position of the first one, and the problem
};

// Outputs: the sound; then, if requested, the file's sample rate, the text's bytes, the number within its manifest.
std::shared_ptr<Source> nemo_asr_source(const std::vector<std::string>& manifests, const NemoAsrOptions& options,
                                        SkippedLines& skipped);

}  // namespace avida
