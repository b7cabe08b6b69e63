// Images decoded for a GPU: its engine for JPEG files and the CPU's threads share a batch.
#pragma once
#include <optional>

#include "codecs/image.h"
#include "op/gpu_call.h"

namespace avida {

// Whole images. Nothing where the GPU has no engine, or what is asked for is none of its business: then the CPU decodes
// all.
std::optional<std::vector<Data>> decode_on_gpu(const Run& run, const GpuStream& stream,
                                               const codecs::ImageRequest& request);

}  // namespace avida
