// Reading a part of an array that lies in a file.
#pragma once
#include <functional>

#include "op/window.h"

namespace avida {

// Reads `bytes` bytes from a place in the file.
using ReadAt = std::function<void(int64_t offset, void* to, int64_t bytes)>;

// Reads the elements of `part`, which lies inside the C-ordered array of shape `shape` at the file's byte `data`, into
// the dense array `to`. Only the rows of the part are read, and gaps between them where skipping takes longer.
void read_array_part(const ReadAt& read, int64_t data, int element_size, const Shape& shape, const Window& part,
                     char* to);

}  // namespace avida
