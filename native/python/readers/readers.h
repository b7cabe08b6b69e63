// What the bindings of all readers share. Each format is bound in a file of its own.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "python/python.h"
#include "readers/file_list.h"
#include "readers/source.h"

namespace avida::python {

// What Python holds of a Source. A plain std::shared_ptr argument would count references of the Python object, and need
// the GIL when a reader's thread drops it.
struct SourceHandle {
  std::shared_ptr<const Source> source;
};

// The same for the files of a data set, which File and the readers of arrays have in common.
struct FileListHandle {
  std::shared_ptr<const FileList> files;
};

// File names are bytes to the system: names that are not UTF-8 go through Python as os.fsdecode makes them.
std::string path_of(nb::handle text);
std::vector<std::string> paths_of(nb::handle texts);

// Tells a Python function, or nobody if it is None, how many bytes are done; what it raises is passed on. Answers
// signals. For threads without the GIL.
inline void report_progress(const nb::object& progress, int64_t done, int64_t all) {
  TakingGil taking;
  nb::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals()) throw nb::python_error();
  if (!progress.is_none()) progress(done, all);
}

// Adds the functions that make the sources of one format to the module. For a static variable in the format's file, so
// that a build without its library leaves that file out.
struct BindFormat {
  using Function = void (*)(nb::module_&);
  explicit BindFormat(Function function);
};

}  // namespace avida::python
