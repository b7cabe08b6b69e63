// Optional libraries: loaded at run time, with functions found by name.
#pragma once
#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace avida {

class Library {
 public:
  // Loads the first of these files that can be opened. Empty names are skipped.
  explicit Library(std::initializer_list<std::string> files) {
    for (const std::string& file : files)
      if (!file.empty() && (handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))) break;
  }

  // Whether this process has loaded the file, here or elsewhere.
  static bool is_loaded(const char* file) {
    void* handle = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
    if (handle) dlclose(handle);
    return handle;
  }

  bool found() const { return handle_; }

  template <class Function>
  void find(Function& function, const char* name) {
    function = handle_ ? reinterpret_cast<Function>(dlsym(handle_, name)) : nullptr;
    if (!function) missing_ = name;
  }
  // The name of a function that was not found, or empty.
  const std::string& missing() const { return missing_; }

 private:
  void* handle_ = nullptr;  // never closed
  std::string missing_;
};

}  // namespace avida
