// The names and labels of many files, in little memory.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/executor.h"

namespace avida {

class FileList {
 public:
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  int32_t label(int64_t i) const { return entries_[i].label; }
  std::string path(int64_t i) const;

  // Files are found under their folder, unless their name is an absolute path.
  int add_folder(std::string_view path);
  void add(int folder, std::string_view name, int32_t label);

  // `interrupt` is called now and then, and may throw.

  // What is in the folders under `root`, in the order of names; a folder's number in that order is the label. Names
  // match one of the filters.
  struct Filters {
    std::vector<std::string> files, folders;  // no folders: all of them
    bool case_sensitive = false;
  };
  static FileList from_folders(const std::string& root, const Filters& filters, const Interrupt& interrupt = {});
  // What is in `root` itself, and then in the folders under it, in the order of names. No labels; the filter tells
  // upper from lower case.
  static FileList from_tree(const std::string& root, const std::string& filter, const Interrupt& interrupt = {});
  // From a text with a name in each line, and a label behind it where there are some.
  static FileList from_text(const std::string& path, const std::string& root, bool labels,
                            const Interrupt& interrupt = {});

 private:
  struct Entry {
    int64_t name;  // where it starts in names_
    uint32_t length;
    int32_t folder, label;
  };

  std::string names_;  // one after another
  std::vector<std::string> folders_;
  std::vector<Entry> entries_;
};

}  // namespace avida
