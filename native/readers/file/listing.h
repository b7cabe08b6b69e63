// The names of the files in a folder and in the folders in it, which a file may keep from one run to the next.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "readers/reader_spec.h"

namespace avida {

class Listing {
 public:
  // Asks the store. `interrupt` is called regularly, and may throw.
  static std::shared_ptr<const Listing> of(const std::string& root, const Interrupt& interrupt);
  // What a file at this path keeps; null where there is none yet, or another version wrote it. Throws if it is anything
  // else, or the listing of another folder.
  static std::shared_ptr<const Listing> kept(const std::string& path, const std::string& root);
  // Of such a file.
  std::string content(const std::string& path, const std::string& root) const;

  using Take = std::function<void(std::string_view)>;
  void each_folder(const Take& take) const;
  void each_file(std::string_view folder, const Take& take) const;  // "": those in the root itself

 private:
  void add_file(std::string_view folder, std::string_view name);
  void parse(std::string_view content);

  std::map<std::string, std::string, std::less<>> files_;  // of each folder, by its name: names that end with a null
};

}  // namespace avida
