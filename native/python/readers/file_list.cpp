// The files of a data set, from folders, lists or names: for all readers of single files.
#include "readers/file/file_list.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/readers/readers.h"

namespace avida::python {
namespace {

FileListHandle handle_of(FileList files) { return {std::make_shared<const FileList>(std::move(files))}; }

FileListHandle from_folders(nb::str root, const std::vector<std::string>& files,
                            const std::vector<std::string>& folders, bool case_sensitive) {
  std::string path = path_of(root);
  auto interrupt = answer_signals();
  WithoutGil released;
  return handle_of(FileList::from_folders(path, {files, folders, case_sensitive}, interrupt));
}

FileListHandle from_tree(nb::str root, const std::string& filter) {
  std::string path = path_of(root);
  auto interrupt = answer_signals();
  WithoutGil released;
  return handle_of(FileList::from_tree(path, filter, interrupt));
}

FileListHandle from_text(nb::str list, nb::str root, bool labels, bool confine) {
  std::string list_path = path_of(list), root_path = path_of(root);
  auto interrupt = answer_signals();
  WithoutGil released;
  FileList files = FileList::from_text(list_path, root_path, labels, interrupt);
  if (confine) files.confine(list_path, interrupt);
  return handle_of(std::move(files));
}

int32_t label_of(nb::handle object) {
  int overflow;
  long label = PyLong_AsLongAndOverflow(object.ptr(), &overflow);
  if (label == -1 && PyErr_Occurred()) throw nb::python_error();
  if (overflow || label != static_cast<int32_t>(label))
    fail(ErrorKind::overflow, "the label ", nb::str(object).c_str(), " does not fit into int32");
  return static_cast<int32_t>(label);
}

// If labels are None, the label of a file is its index.
FileListHandle from_names(nb::list names, nb::object labels, nb::str root) {
  FileList files;
  int folder = files.add_folder(path_of(root));
  for (size_t i = 0; i < names.size(); i++)
    files.add(folder, path_of(names[i]), labels.is_none() ? static_cast<int32_t>(i) : label_of(nb::object(labels[i])));
  return handle_of(std::move(files));
}

const BindFormat file_list([](nb::module_& m) {
  nb::class_<FileListHandle>(m, "FileList")
      .def_static("from_folders", &from_folders, nb::arg("root"), nb::arg("files"), nb::arg("folders"),
                  nb::arg("case_sensitive"))
      .def_static("from_tree", &from_tree, nb::arg("root"), nb::arg("filter"))
      .def_static("from_text", &from_text, nb::arg("list"), nb::arg("root"), nb::arg("labels"), nb::arg("confine"))
      .def_static("from_names", &from_names, nb::arg("names"), nb::arg("labels").none(), nb::arg("root"));
});

}  // namespace
}  // namespace avida::python
