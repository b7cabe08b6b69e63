// readers.MXNet: RecordIO files and their index.
#include "readers/records/mxnet.h"

#include "python/readers/readers.h"

namespace avida::python {
namespace {

SourceHandle source_from_recordio(nb::list paths, nb::str index_path, bool read_ahead, bool keep_damaged) {
  std::vector<std::string> files = paths_of(paths);
  std::string index = path_of(index_path);
  WithoutGil released;
  return {mxnet_source(std::move(files), index, read_ahead, keep_damaged)};
}

const BindFormat mxnet([](nb::module_& m) {
  m.def("source_from_recordio", &source_from_recordio, nb::arg("paths"), nb::arg("index_path"), nb::arg("read_ahead"),
        nb::arg("keep_damaged"));
});

}  // namespace
}  // namespace avida::python
