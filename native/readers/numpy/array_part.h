// Reads a part of an array from a file.
#pragma once
#include "core/parts/window.h"
#include "storage/storage.h"

namespace avida {

// Reads the elements of `part`, which is inside of the C-ordered array of shape `shape` at the file's offset `data`,
// into the dense array `to`. Only the rows of the part are read, and short gaps between them, since skipping takes
// longer.
void read_array_part(const storage::Object& file, int64_t data, int element_size, const Shape& shape,
                     const Window& part, char* to);

}  // namespace avida
