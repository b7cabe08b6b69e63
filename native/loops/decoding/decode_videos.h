// Decodes videos for a GPU, one in each thread.
#pragma once
#include <functional>
#include <vector>

#include "operator/gpu_call.h"

namespace avida {

// The frames that are decoded of one file.
struct VideoPart {
  Shape shape;
  std::vector<double> times;                                       // the second output, if there is one
  std::function<void(void* out, const GpuStream& stream)> decode;  // queues its work in the stream
};

// `plan` opens the video of a sample; threads call it, once for each sample.
std::vector<Data> decode_videos(const Run& run, const GpuStream& stream,
                                const std::function<VideoPart(int sample)>& plan);

}  // namespace avida
