// Decodes images for a GPU: ordinary JPEG files by kernels, all others by threads of the CPU, with equal bits.
#pragma once
#include <functional>
#include <optional>

#include "codecs/image.h"
#include "operator/gpu_call.h"

namespace avida {

// What is decoded of a file.
struct ImagePart {
  codecs::EncodedImage image;
  codecs::Roi roi;  // of the upright image

  Shape shape() const { return {roi.height, roi.width, image.extents().channels}; }
};

// `plan` reads the header of a sample's file; threads call it, once for each sample. Returns nothing where a GPU cannot
// help: then the CPU decodes all.
std::optional<std::vector<Data>> decode_on_gpu(const Run& run, const GpuStream& stream,
                                               const std::function<ImagePart(int sample)>& plan);

// For tests: how many files kernels have decoded in this process, and not given back to the CPU.
int64_t jpegs_decoded_by_kernels();

}  // namespace avida
