// Files on this machine. A bounded number of them is open in the process, whatever reads them.
#pragma once
#include <memory>
#include <string>

#include "storage/storage.h"

namespace avida::storage {

const std::shared_ptr<const Store>& local_store();
ObjectPtr open_file(std::string path);

// Whether a name is a path or begins with file://, and the path.
bool is_local_path(const std::string& name);
std::string local_path(const std::string& name);
bool local_path_exists(const std::string& path);

}  // namespace avida::storage
