// Compiles kernels with NVRTC, which is loaded at run time, and caches them in a folder.
#pragma once
#include <string>

#include "gpu/kernel.h"
#include "gpu/kernel_cache.h"

namespace avida {

// `cached`: use the cache. The first usual kernel that must be compiled starts threads that compile the other ones.
CompiledKernel compile_kernel(const Kernel& kernel, const std::string& architecture, bool cached = true);
// Waits for these threads. For the end of the process.
void finish_compiling();

// The source code that is compiled.
std::string kernel_source(const Kernel& kernel);

// A library to try first when NVRTC is loaded, which happens when the first kernel is compiled.
void set_compiler_library(std::string path);
// For example "13.0", or the reason why NVRTC cannot be used.
std::string compiler_version();

}  // namespace avida
