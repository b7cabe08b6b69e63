// A cache of compiled kernels in a folder. Only files that no other user can have written are used.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace avida {

struct CompiledKernel {
  std::string code;      // machine code for the driver
  std::string name;      // of its function
  bool quickly = false;  // compiled so: slower code, never in the cache
};

struct KernelCache {
  std::string folder;   // AVIDA_CACHE_DIR, or avida in the user's cache folder
  std::string problem;  // why the cache is not used; empty if it is
};
KernelCache kernel_cache();

// FNV-1a with 128 bits, for names and to detect damage. File permissions protect against forged files.
std::string hash_of(const std::vector<std::string_view>& texts);

// Returns false if there is no such file, or it is not used. `key` is a hash of everything the kernel depends on.
bool read_cached(const std::string& key, CompiledKernel& kernel);
// Ignores errors: without a cache, kernels are compiled again.
void write_cached(const std::string& key, const CompiledKernel& kernel);

}  // namespace avida
