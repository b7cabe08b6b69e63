// The two kinds of GPUs.
#pragma once
#include <memory>

#include "cuda/gpu.h"

namespace avida {

std::unique_ptr<Gpu> make_cuda_gpu(int device);
// Does everything at once on the CPU, in memory that is marked as a GPU's.
std::unique_ptr<Gpu> make_fake_gpu(int device);

}  // namespace avida
