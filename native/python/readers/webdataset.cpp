// readers.Webdataset: samples in tar archives, and index files of such archives.
#include "readers/webdataset/webdataset.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/readers/readers.h"
#include "readers/webdataset/webdataset_samples.h"

namespace avida::python {
namespace {

WebdatasetOptions::Missing missing_of(const std::string& name) {
  using Missing = WebdatasetOptions::Missing;
  if (name.empty() || name == "empty") return Missing::empty;
  if (name == "skip") return Missing::skip;
  if (name == "error") return Missing::error;
  refuse("missing_component_behavior must be \"empty\", \"skip\" or \"error\", got \"", name, "\"");
}

SourceHandle webdataset(nb::list paths, nb::list index_paths, const std::vector<std::string>& extensions,
                        const std::vector<int>& dtypes, const std::vector<bool>& text_numbers,
                        const std::string& missing, bool case_sensitive, bool read_ahead, bool keep_damaged) {
  WebdatasetOptions options{.paths = paths_of(paths),
                            .index_paths = paths_of(index_paths),
                            .extensions = extensions,
                            .dtypes = {},
                            .missing = missing_of(missing),
                            .allow_unmatched = missing == "empty",
                            .text_numbers = text_numbers,
                            .case_sensitive = case_sensitive,
                            .read_ahead = read_ahead,
                            .keep_damaged = keep_damaged};
  for (int dtype : dtypes) options.dtypes.push_back(static_cast<DType>(dtype));
  auto interrupt = answer_signals();
  WithoutGil released;
  return {webdataset_source(options, [&](int64_t) { interrupt(); })};
}

// `progress` is None, or called with the number of bytes done and the size of the archive.
nb::str index_of_archive(nb::str path, nb::object progress) {
  std::string name = path_of(path), text;
  {
    WithoutGil released;
    try {
      File archive(name);
      auto report = [&](int64_t done) { report_progress(progress, done, archive.size()); };
      text = webdataset_index(archive, report);
      report(archive.size());
    } catch (const Error& error) {
      fail(error.kind, name, ": ", error.message);
    }
  }
  return nb::steal<nb::str>(PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

const BindFormat format([](nb::module_& m) {
  m.def("webdataset_source", &webdataset, nb::arg("paths"), nb::arg("index_paths"), nb::arg("extensions"),
        nb::arg("dtypes"), nb::arg("text_numbers"), nb::arg("missing"), nb::arg("case_sensitive"),
        nb::arg("read_ahead"), nb::arg("keep_damaged"));
  m.def("webdataset_index", &index_of_archive, nb::arg("path"), nb::arg("progress").none());
});

}  // namespace
}  // namespace avida::python
