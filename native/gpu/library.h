// Libraries that need not be installed: opened at run time, their functions found by name.
#pragma once
#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace avida {

class Library {
 public:
  // The first of these files that can be opened. Empty names are passed over.
  explicit Library(std::initializer_list<std::string> files) {
    for (const std::string& file : files)
      if (!file.empty() && (handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))) break;
  }

  bool found() const { return handle_; }

  template <class Function>
  void find(Function& function, const char* name) {
    function = handle_ ? reinterpret_cast<Function>(dlsym(handle_, name)) : nullptr;
    if (!function) missing_ = name;
  }
  // A function that was looked for in vain, if there is one.
  const std::string& missing() const { return missing_; }

 private:
  void* handle_ = nullptr;  // never closed
  std::string missing_;
};

}  // namespace avida
