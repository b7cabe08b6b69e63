// Names of objects and folders: where they lead, without reading anything but symbolic links.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace avida::storage {

// Without "." and "..", and not relative to the working folder, if it is a path. Other names remain.
std::string full_name(const std::string& name);
// What leads from a folder to a full name, if both are paths. Other names remain.
std::string relative_name(const std::string& full, const std::string& folder);
// The name that is meant in a folder.
std::string name_in(const std::string& folder, const std::string& relative);
// With the slash at its end; empty for a name without a folder.
std::string folder_of(const std::string& name);
// Whether a name is complete: it says a scheme, or is an absolute path.
bool is_complete(std::string_view name);

// Finds where names lead once all symbolic links are resolved. Each folder is resolved once.
class Resolver {
 public:
  Resolver();
  ~Resolver();
  std::string resolve(const std::string& name);         // throws
  std::string resolve_folder(const std::string& name);  // ends with a slash

 private:
  struct Known;
  const std::unique_ptr<Known> known_;
};

}  // namespace avida::storage
