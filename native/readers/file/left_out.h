// What is left out of folders of files, for a warning that says it once.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace avida {

class LeftOut {
 public:
  void add(std::string_view file);  // by its ending
  void add_hidden_file() { hidden_files_++; }
  void add_hidden_folder(std::string_view name) { hidden_folders_.emplace_back(name); }
  // A class of which all files are left out.
  void add_class(std::string_view name, int64_t label);

  int64_t files() const { return files_ + hidden_files_; }
  bool is_empty() const { return files() == 0 && hidden_folders_.empty(); }
  // ".avif (7), without an ending (2); 3 hidden files; the hidden folder .git"
  std::string what() const;
  // "a (label 0), b (label 1)"; empty without such classes
  std::string classes() const;
  bool has_endings() const { return files_ > 0; }
  bool has_hidden() const { return hidden_files_ > 0 || !hidden_folders_.empty(); }

 private:
  std::map<std::string, int64_t, std::less<>> count_of_ending_;
  int64_t files_ = 0, hidden_files_ = 0;  // those that are not hidden, and those that are
  std::vector<std::string> hidden_folders_, classes_;
};

}  // namespace avida
