#include "readers/file/file_args.h"

namespace avida {

void FilesArgs::check() const {
  if (!file_root && !file_list && !files) refuse("expected file_root, file_list or files");
  if (files && file_list) refuse("expected file_list or files, got both");
  if (confine && !file_list)
    refuse("confine needs file_list: names in files are your own, and file_root alone names no files");
  if (index_path && (files || file_list))
    refuse("index_path needs file_root alone: it keeps the listing of that folder, and files and file_list need none");
}

FileList FilesArgs::named_files(const std::optional<std::vector<int64_t>>& labels) const {
  return files_of_names(*files, labels, root());
}

FileList FilesArgs::listed_files(bool with_labels, const Opening& opening) const {
  FileList list = FileList::from_text(*file_list, root(), with_labels, opening.interrupt);
  if (confine) list.confine(*file_list, opening.interrupt);
  return list;
}

std::shared_ptr<const FileList> UnlabelledFilesArgs::find(const Opening& opening) const {
  return std::make_shared<const FileList>(files ? named_files({})
                                          : file_list
                                              ? listed_files(false, opening)
                                              : FileList::from_tree(root(), file_filter, opening.interrupt, listing));
}

FileList files_of_names(const std::vector<std::string>& names, const std::optional<std::vector<int64_t>>& labels,
                        const std::string& root) {
  if (labels && labels->size() != names.size())
    refuse("expected one label for each file, got ", names.size(), " files, ", labels->size(), " labels");
  FileList list;
  const int folder = list.add_folder(root);
  for (size_t i = 0; i < names.size(); i++) {
    const int64_t label = labels ? (*labels)[i] : static_cast<int64_t>(i);
    if (label != static_cast<int32_t>(label))
      fail(ErrorKind::overflow, "the label ", label, " does not fit into int32");
    list.add(folder, names[i], static_cast<int32_t>(label));
  }
  return list;
}

}  // namespace avida
