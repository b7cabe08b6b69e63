// The source of readers.File: whole files with a label each.
#pragma once
#include <memory>
#include <optional>

#include "readers/file/file_list.h"
#include "readers/source.h"

namespace avida {

// Outputs: the bytes, and the label. `read_ahead` lets the system read all files of a batch into its cache first.
std::shared_ptr<Source> file_source(std::shared_ptr<const FileList> files, bool read_ahead);

// The names of folders by their labels, if the list is that of folders.
std::optional<Source::Classes> classes_of_folders(const FileList& files);

}  // namespace avida
