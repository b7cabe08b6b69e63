// Declarations that the bindings of all readers share. Each format is bound in its own file.
#pragma once
#include <any>
#include <memory>
#include <string>
#include <vector>

#include "python/python.h"
#include "readers/source.h"

namespace avida::python {

// A Source as a Python object. A plain std::shared_ptr argument would count references of the Python object, and need
// the GIL when a reader's thread drops it.
struct SourceHandle {
  std::shared_ptr<const Source> source;
};

// A cache of readers as a Python object.
struct CacheHandle {
  storage::CachePtr cache;
};

// File names are bytes: names that are not UTF-8 are converted as by os.fsdecode.
std::string path_of(nb::handle text);
std::vector<std::string> paths_of(nb::handle texts);

// Calls a Python function, unless it is None, with the number of bytes done; passes on its exceptions. Runs signal
// handlers. For threads without the GIL.
inline void report_progress(const nb::object& progress, int64_t done, int64_t all) {
  WithGil acquired;
  if (PyErr_CheckSignals()) throw nb::python_error();
  if (!progress.is_none()) progress(done, all);
}

void bind_reader_states(nb::module_& m);

// Adds the functions that create the sources of one format to the module. For a static variable in the format's file,
// so that a build without its library can omit that file.
struct BindFormat {
  using Function = void (*)(nb::module_&);
  explicit BindFormat(Function function);
};

// Adds a conversion of an argument that has a type of its own, by its name. For a static variable.
struct ConvertArgument {
  using Function = std::any (*)(nb::handle);
  ConvertArgument(const char* name, Function function);
};

}  // namespace avida::python
