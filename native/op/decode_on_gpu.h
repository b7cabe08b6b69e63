// Images decoded for a GPU: ordinary JPEG files by kernels, all others by threads of the CPU. Whoever decodes an image,
// its bits are the same.
#pragma once
#include <functional>
#include <optional>

#include "codecs/image.h"
#include "op/gpu_call.h"

namespace avida {

// What one sample asks for; `roi` tells the rectangle of an image of these extents.
struct DecodeRequest {
  codecs::ImageRequest image;
  std::function<codecs::Roi(const codecs::Extents&)> roi;
};

// Nothing where a GPU cannot help: then the CPU decodes all.
std::optional<std::vector<Data>> decode_on_gpu(const Run& run, const GpuStream& stream,
                                               const std::function<DecodeRequest(int sample)>& request_of);

}  // namespace avida
