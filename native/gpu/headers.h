// The source text of the headers that kernels include, embedded into the library.
#pragma once
#include <span>
#include <utility>

namespace avida {

// Names as in #include, and texts.
std::span<const std::pair<const char*, const char*>> device_headers();

}  // namespace avida
