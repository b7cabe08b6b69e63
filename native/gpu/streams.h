// Selects the GPU and the stream of a context's calls.
#pragma once
#include "gpu/gpu.h"
#include "runtime/context.h"

namespace avida {

// That of the context's stream, the one it was created for, or the one this thread has selected.
int gpu_of(const Context& context);
// The context's own stream, else the stream set for the GPU, else the GPU's default stream.
std::shared_ptr<GpuStream> stream_of(const Context& context, int device);

// Null restores the GPU's default stream.
void set_default_stream(int device, std::shared_ptr<GpuStream> stream);
std::shared_ptr<GpuStream> default_stream(int device);

}  // namespace avida
