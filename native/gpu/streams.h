// Which stream the calls of a context use.
#pragma once
#include "cuda/gpu.h"
#include "runtime/context.h"

namespace avida {

// The context's own stream, else the one set for the GPU, else the GPU's.
std::shared_ptr<GpuStream> stream_of(const Context& context, int device);

// Null: the GPU's own again.
void set_default_stream(int device, std::shared_ptr<GpuStream> stream);
std::shared_ptr<GpuStream> default_stream(int device);

}  // namespace avida
