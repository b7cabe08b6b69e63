// Whole files with a label each.
#pragma once
#include <memory>

#include "readers/file_list.h"
#include "readers/source.h"

namespace avida {

// Outputs: the bytes, and the label. `read_ahead` asks the system for all files of a batch before reading the first.
std::shared_ptr<Source> file_source(std::shared_ptr<const FileList> files, bool read_ahead);

}  // namespace avida
