// The source of experimental.readers.Fits: images in FITS files.
#pragma once
#include <memory>
#include <vector>

#include "readers/file/file_list.h"
#include "readers/source.h"

namespace avida {

// Outputs: the images of the given header-data units (HDUs), counted from 1. `dtypes` has one type for each, or is
// empty; then the first readable file determines the types. It always determines the ranks.
std::shared_ptr<Source> fits_source(std::shared_ptr<const FileList> files, std::vector<int> hdus,
                                    std::vector<DType> dtypes);

}  // namespace avida
