// readers.File: files from folders, lists or names.
#include "readers/file.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/readers/readers.h"

namespace avida::python {
namespace {

SourceHandle source_from_folders(nb::str root, const std::vector<std::string>& files,
                                 const std::vector<std::string>& folders, bool case_sensitive, bool read_ahead) {
  std::string path = path_of(root);
  WithoutGil released;
  return {file_source(FileList::from_folders(path, {files, folders, case_sensitive}), read_ahead)};
}

SourceHandle source_from_list(nb::str list, nb::str root, bool read_ahead) {
  std::string list_path = path_of(list), root_path = path_of(root);
  WithoutGil released;
  return {file_source(FileList::from_text(list_path, root_path), read_ahead)};
}

int32_t label_of(nb::handle object) {
  int overflow;
  long label = PyLong_AsLongAndOverflow(object.ptr(), &overflow);
  if (label == -1 && PyErr_Occurred()) throw nb::python_error();
  if (overflow || label != static_cast<int32_t>(label))
    fail(ErrorKind::overflow, "the label ", nb::str(object).c_str(), " does not fit into int32");
  return static_cast<int32_t>(label);
}

// Labels are None for the number of each file.
SourceHandle source_from_names(nb::list names, nb::object labels, nb::str root, bool read_ahead) {
  FileList files;
  int folder = files.add_folder(path_of(root));
  for (size_t i = 0; i < names.size(); i++)
    files.add(folder, path_of(names[i]), labels.is_none() ? static_cast<int32_t>(i) : label_of(nb::object(labels[i])));
  return {file_source(std::move(files), read_ahead)};
}

const BindFormat file([](nb::module_& m) {
  m.def("source_from_folders", &source_from_folders, nb::arg("root"), nb::arg("files"), nb::arg("folders"),
        nb::arg("case_sensitive"), nb::arg("read_ahead"));
  m.def("source_from_list", &source_from_list, nb::arg("list"), nb::arg("root"), nb::arg("read_ahead"));
  m.def("source_from_names", &source_from_names, nb::arg("names"), nb::arg("labels").none(), nb::arg("root"),
        nb::arg("read_ahead"));
});

}  // namespace
}  // namespace avida::python
