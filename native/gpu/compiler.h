// Compiles kernels with NVRTC, which is loaded at run time, and caches them in a folder.
#pragma once
#include <optional>
#include <string>

#include "gpu/kernel.h"
#include "gpu/kernel_cache.h"

namespace avida {

// Starts threads that read or compile the usual kernels, for the first GPU that is used.
void start_compiling(const std::string& architecture);
// Waits for these threads. For the end of the process.
void finish_compiling();

// `cached`: use the cache. A usual kernel may be one that was compiled quickly.
CompiledKernel compile_kernel(const Kernel& kernel, const std::string& architecture, bool cached = true);
// What such a kernel is to be replaced by, once it is compiled.
std::optional<CompiledKernel> better_kernel(const Kernel& kernel, const std::string& architecture);

// The source code that is compiled.
std::string kernel_source(const Kernel& kernel);

// A library to try first when NVRTC is loaded, which happens when the first kernel is compiled.
void set_compiler_library(std::string path);
// For example "13.0", or the reason why NVRTC cannot be used.
std::string compiler_version();

}  // namespace avida
