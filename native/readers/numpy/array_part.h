// Reads a part of an array from a file.
#pragma once
#include <functional>

#include "core/slices/window.h"

namespace avida {

// Reads `bytes` bytes from an offset in the file.
using ReadAt = std::function<void(int64_t offset, void* to, int64_t bytes)>;

// Reads the elements of `part`, which is inside of the C-ordered array of shape `shape` at the file's offset `data`,
// into the dense array `to`. Only the rows of the part are read, and short gaps between them, since skipping takes
// longer.
void read_array_part(const ReadAt& read, int64_t data, int element_size, const Shape& shape, const Window& part,
                     char* to);

}  // namespace avida
