// Index files of tar archives.
#include "python/readers/readers.h"
#include "readers/webdataset/webdataset_samples.h"

namespace avida::python {
namespace {

// `progress` is None, or called with the number of bytes done and the size of the archive.
nb::str index_of_archive(nb::str path, nb::object progress) {
  std::string name = path_of(path), text;
  {
    WithoutGil released;
    try {
      const storage::ObjectPtr archive = storage::in_order(storage::open(name));
      auto report = [&](int64_t done) { report_progress(progress, done, archive->size()); };
      text = webdataset_index(*archive, report);
      report(archive->size());
    } catch (const Error& error) {
      fail(error.kind, name, ": ", error.message);
    }
  }
  return nb::steal<nb::str>(PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

const BindFormat format([](nb::module_& m) {
  m.def("webdataset_index", &index_of_archive, nb::arg("path"), nb::arg("progress").none());
});

}  // namespace
}  // namespace avida::python
