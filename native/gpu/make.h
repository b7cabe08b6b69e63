// Creates real and emulated GPUs.
#pragma once
#include <memory>

#include "gpu/gpu.h"

namespace avida {

std::unique_ptr<Gpu> make_cuda_gpu(int device);
// Emulates a GPU on the CPU: everything runs synchronously, in CPU memory that is marked as GPU memory.
std::unique_ptr<Gpu> make_fake_gpu(int device);

}  // namespace avida
