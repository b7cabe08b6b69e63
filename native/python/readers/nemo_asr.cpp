// readers.NemoAsr: speech and transcripts from manifests.
#include "readers/nemo_asr/nemo_asr.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/readers/readers.h"

namespace avida::python {
namespace {

SourceHandle make_source(nb::list manifests, int dtype, bool downmix, double quality, double sample_rate,
                         double min_duration, double max_duration, bool read_sample_rate, bool read_text,
                         bool read_idxs, bool read_ahead) {
  std::vector<std::string> paths = paths_of(manifests);
  NemoAsrOptions options{{static_cast<DType>(dtype), downmix, quality, sample_rate},
                         min_duration,
                         max_duration,
                         read_sample_rate,
                         read_text,
                         read_idxs,
                         read_ahead};
  SkippedLines skipped;
  std::shared_ptr<Source> source;
  {
    WithoutGil released;
    source = nemo_asr_source(paths, options, skipped);
  }
  if (skipped.count > 0) {
    std::string message = str("readers.NemoAsr: ", skipped.count,
                              skipped.count == 1 ? " line of the manifest is" : " lines of the manifests are",
                              " invalid and skipped; the first: ", skipped.first);
    if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 5) < 0) throw nb::python_error();
  }
  return {std::move(source)};
}

const BindFormat nemo_asr([](nb::module_& m) {
  m.def("nemo_asr_source", &make_source, nb::arg("manifests"), nb::arg("dtype"), nb::arg("downmix"), nb::arg("quality"),
        nb::arg("sample_rate"), nb::arg("min_duration"), nb::arg("max_duration"), nb::arg("read_sample_rate"),
        nb::arg("read_text"), nb::arg("read_idxs"), nb::arg("read_ahead"));
});

}  // namespace
}  // namespace avida::python
