// Compiles kernels with NVRTC, which is opened at run time, and keeps them in a folder for the next process.
#pragma once
#include <string>

#include "cuda/kernel.h"

namespace avida {

struct CompiledKernel {
  std::string code;  // for the driver to load
  std::string name;  // of the function in it
};

// `cached`: what an earlier process has compiled will do. The first usual kernel that has to be compiled lets threads
// compile the others.
CompiledKernel compile_kernel(const Kernel& kernel, const std::string& architecture, bool cached = true);
// Waits for such threads. For the end of the process.
void finish_compiling();

// The code that is compiled.
std::string kernel_source(const Kernel& kernel);

// Where compiled kernels are kept: AVIDA_CACHE_DIR, or avida in the user's folder for caches.
std::string kernel_cache_folder();
// A library to try first when NVRTC is opened, which happens when the first kernel is compiled.
void set_compiler_library(std::string path);
// "13.0", or why it cannot be used.
std::string compiler_version();

}  // namespace avida
