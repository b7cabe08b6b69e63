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
  std::optional<std::string> file_root, file_list;
  std::optional<std::vector<std::string>> files;
  bool confine = false;

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

template <class Args>
void declare_unlabelled_files(ReaderDeclaration<Args>& reader) {
  reader.arg("confine", &Args::confine, kConfineText)
      .arg("file_filter", &Args::file_filter, "A pattern that a file's name in ``file_root`` must match.")
      .path("file_list", &Args::file_list,
            "A text file with a file name in each line. Names are relative to ``file_root``, or else to the folder of "
            "the list.")
      .path("file_root", &Args::file_root,
            "The folder to search; the base of relative names in ``file_list`` and ``files``.")
      .path("files", &Args::files, "The files, in this order.");
}

}  // namespace avida
