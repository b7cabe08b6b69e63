// Speech with transcripts: manifests of JSON lines, each of which names a sound file.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ops/decode/audio.h"
#include "readers/source.h"

namespace avida {

struct NemoAsrOptions {
  ops::AudioRequest audio;
  double min_duration = 0, max_duration = 0;  // in seconds, as the manifest says; no limit unless above 0
  bool read_sample_rate = true, read_text = true, read_idxs = false;
  bool read_ahead = false;
};

// The lines of manifests that could not be used.
struct SkippedLines {
  int64_t count = 0;
  std::string first;  // where the first one is, and what is wrong with it
};

// Outputs: the sound; then, as asked for, the file's sample rate, the text's bytes, the number within its manifest.
std::shared_ptr<Source> nemo_asr_source(const std::vector<std::string>& manifests, const NemoAsrOptions& options,
                                        SkippedLines& skipped);

}  // namespace avida
