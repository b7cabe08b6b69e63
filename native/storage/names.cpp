#include "storage/names.h"

#include <filesystem>
#include <system_error>
#include <unordered_map>

#include "core/error.h"
#include "storage/local.h"

namespace avida::storage {
namespace {

namespace fs = std::filesystem;

fs::path path_of(const std::string& name) { return local_path(name); }

// Errors of the system, as ours.
template <class Function>
auto checked(Function&& function) {
  try {
    return function();
  } catch (const fs::filesystem_error& error) {
    refuse(error.what());
  }
}

}  // namespace

std::string full_name(const std::string& name) {
  return is_local_path(name) ? fs::absolute(path_of(name)).lexically_normal().string() : name;
}

std::string relative_name(const std::string& full, const std::string& folder) {
  const bool are_paths = is_local_path(full) && is_local_path(folder);
  return are_paths ? path_of(full).lexically_relative(path_of(folder)).string() : full;
}

std::string name_in(const std::string& folder, const std::string& relative) {
  if (is_complete(relative) || folder.empty()) return relative;
  return folder + (folder.ends_with('/') ? "" : "/") + relative;
}

std::string folder_of(const std::string& name) {
  const size_t end = name.rfind('/');
  return end == name.npos ? "" : name.substr(0, end + 1);
}

bool is_complete(std::string_view name) { return name.starts_with('/') || !scheme_of(name).empty(); }

struct Resolver::Known {
  std::unordered_map<std::string, fs::path> folders;
};

Resolver::Resolver() : known_(std::make_unique<Known>()) {}

Resolver::~Resolver() = default;

std::string Resolver::resolve(const std::string& name) {
  if (!is_local_path(name)) {  // stores have neither links nor "..": a server might make something of it
    if (str('/', name, '/').find("/../") != std::string::npos) refuse("expected a name without \"..\", got ", name);
    return name;
  }
  return checked([&] {
    const fs::path path = path_of(name);
    auto [known, is_new] = known_->folders.try_emplace(path.parent_path().string());
    if (is_new) known->second = fs::weakly_canonical(path.has_parent_path() ? path.parent_path() : ".");
    const fs::path file = known->second / path.filename();
    std::error_code ignored;
    const bool is_plain = path.filename() != ".." && path.filename() != "." && !fs::is_symlink(file, ignored);
    return (is_plain ? file : fs::weakly_canonical(file)).string();
  });
}

std::string Resolver::resolve_folder(const std::string& name) {
  if (!is_local_path(name)) return name.ends_with('/') ? name : name + '/';
  return checked([&] { return (fs::weakly_canonical(name.empty() ? "." : path_of(name)) / "").string(); });
}

}  // namespace avida::storage
