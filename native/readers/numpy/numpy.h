// The source of readers.Numpy: arrays in .npy files.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "core/window.h"
#include "readers/file/file_list.h"
#include "readers/source.h"

namespace avida {

struct NumpyRegion {
  std::function<Window(const Shape&)> window_of;  // the region of an array of this shape
  OutOfBounds policy = OutOfBounds::error;        // or constant, or trim
  float fill = 0;
};

// Output: the array, or its region. The first readable file determines type and rank; all files must agree.
std::shared_ptr<Source> numpy_source(std::shared_ptr<const FileList> files, std::optional<NumpyRegion> region,
                                     bool read_ahead);

}  // namespace avida
