// The arguments that say which files a data set has: file_root, file_list or files.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "readers/declare.h"
#include "readers/file/file_list.h"

namespace avida {

struct FilesArgs : ReaderArgs {
  std::optional<std::string> file_root, file_list, index_path;
  std::optional<std::vector<std::string>> files;
  bool confine = false;
  const Listing* listing = nullptr;  // what the file `index_path` keeps; outlives the opening

  std::string root() const { return file_root.value_or(""); }
  // Throws unless they say where the files are.
  void check() const;
  // The files that the arguments name.
  FileList named_files(const std::optional<std::vector<int64_t>>& labels) const;
  FileList listed_files(bool with_labels, const Opening& opening) const;
};

// The same for files without labels, which are found in all folders under `file_root`.
struct UnlabelledFilesArgs : FilesArgs {
  std::string file_filter;

  std::shared_ptr<const FileList> find(const Opening& opening) const;
};

// The files with these labels, or their indices without labels. Names are relative to the root.
FileList files_of_names(const std::vector<std::string>& names, const std::optional<std::vector<int64_t>>& labels,
                        const std::string& root);

inline constexpr const char* kConfineText =
    "Refuse a name in ``file_list`` that leads outside of ``file_root``, or of the list's folder: by being absolute, "
    "by ``..`` or by a symbolic link. Checked when the reader is made.";

// What all of these readers have.
template <class Args>
void declare_index(ReaderDeclaration<Args>& reader) {
  reader
      .path("index_path", &Args::index_path,
            "A file that keeps the names of all files in ``file_root`` and in its folders, so that the next run, and "
            "the other processes of this one, need not list them. One process makes it where it is missing. It is "
            "never compared with the folder: remove it when files come or go.")
      .arg("listing", &Args::listing, "", ReaderArg::internal);
}

}  // namespace avida
