// The names and labels of the files of a data set, in compact memory.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "readers/reader_spec.h"

namespace avida {

class Listing;

class FileList {
 public:
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  int32_t label(int64_t i) const { return entries_[i].label; }
  std::string path(int64_t i) const;
  // The names of the labels, from 0 on; empty if they do not come from folders.
  const std::vector<std::string>& classes() const { return classes_; }
  bool is_local() const;  // whether all files lie where reading takes no longer than from the page cache

  // Names are relative to their folder, unless they are complete.
  int add_folder(std::string_view path);
  void add(int folder, std::string_view name, int32_t label);

  // `interrupt` is called regularly, and may throw. `kept` is what the folder had; without it, the folder is listed.

  // The files in the folders under `root`, sorted by name; the index of the folder, or that of its name in `classes`,
  // is the label. Names match one of the filters; those that begin with a dot match no other one. A folder keeps its
  // label where all its files are left out. Warns of what is left out.
  struct Filters {
    std::vector<std::string> files, folders;  // empty folders match all
    bool case_sensitive = false;
    std::vector<std::string> classes;  // empty: the folders that are found
    std::string remedy;                // how users choose other files; empty if they chose these
  };
  static FileList from_folders(const std::string& root, const Filters& filters, const Opening& opening,
                               const Listing* kept = nullptr);
  // The files in `root` itself, then those in the folders under it, sorted by name. No labels; the filter is
  // case-sensitive.
  static FileList from_tree(const std::string& root, const std::string& filter, const Interrupt& interrupt = {},
                            const Listing* kept = nullptr);
  // From a text with a name in each line, optionally followed by a label.
  static FileList from_text(const std::string& path, const std::string& root, bool labels,
                            const Interrupt& interrupt = {});

  // Throws if a file is outside of its folder: by a complete name, by .. or by a symbolic link. `origin` is the source
  // of the names.
  void confine(const std::string& origin, const Interrupt& interrupt = {}) const;

 private:
  struct Entry {
    int64_t name;  // its offset in names_
    uint32_t length;
    int32_t folder, label;
  };

  std::string names_;  // concatenated
  std::vector<std::string> classes_;
  std::vector<std::string> folders_;
  std::vector<Entry> entries_;
};

}  // namespace avida
