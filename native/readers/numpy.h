// Arrays in .npy files.
#pragma once
#include <memory>
#include <optional>

#include "ops/generic/slice.h"
#include "readers/file_list.h"
#include "readers/source.h"

namespace avida {

struct NumpyRegion {
  ops::SlicePlace place;
  OutOfBounds policy = OutOfBounds::error;  // or constant, or trim
  float fill = 0;
};

// Output: the array, or its region. Type and rank are those of the first file that can be read; all must agree.
std::shared_ptr<Source> numpy_source(std::shared_ptr<const FileList> files, std::optional<NumpyRegion> region,
                                     bool read_ahead);

}  // namespace avida
