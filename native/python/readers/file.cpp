// readers.File: whole files.
#include "readers/file/file.h"

#include "python/readers/readers.h"

namespace avida::python {
namespace {

const BindFormat file([](nb::module_& m) {
  m.def(
      "file_source",
      [](const FileListHandle& files, bool read_ahead) { return SourceHandle{file_source(files.files, read_ahead)}; },
      nb::arg("files"), nb::arg("read_ahead"));
});

}  // namespace
}  // namespace avida::python
