// The texts of the headers that kernels are compiled from, built into the library.
#pragma once
#include <span>
#include <utility>

namespace avida {

// Names as includes give them, and texts.
std::span<const std::pair<const char*, const char*>> device_headers();

}  // namespace avida
