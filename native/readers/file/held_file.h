// A file that stays open between opening a sample and reading it.
#pragma once
#include <optional>
#include <string>

#include "runtime/file.h"

namespace avida {

// A batch keeps all its files open, unless there are too many: then they are reopened when they are read.
class HeldFile {
 public:
  explicit HeldFile(std::string path);
  ~HeldFile() { close(); }
  HeldFile(const HeldFile&) = delete;

  const File& file() {
    if (!file_) open();
    return *file_;
  }
  void close();
  void close_if_many_are_open();

 private:
  class Registry;
  void open();

  std::string path_;
  std::optional<File> file_;
};

}  // namespace avida
