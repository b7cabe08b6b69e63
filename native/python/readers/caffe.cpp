// readers.Caffe and readers.Caffe2: records in LMDBs.
#include "readers/lmdb/caffe.h"

#include "python/readers/readers.h"

namespace avida::python {
namespace {

const BindFormat caffe([](nb::module_& m) {
  m.def(
      "caffe_source",
      [](nb::list paths, bool images, bool labels) {
        auto names = paths_of(paths);
        WithoutGil released;
        return SourceHandle{caffe_source(names, images, labels)};
      },
      nb::arg("paths"), nb::arg("images"), nb::arg("labels"));
  m.def(
      "caffe2_source",
      [](nb::list paths, bool images, int labels, int64_t classes, int additional, bool boxes) {
        auto names = paths_of(paths);
        Caffe2Options options{images, static_cast<Caffe2Options::Labels>(labels), classes, additional, boxes};
        WithoutGil released;
        return SourceHandle{caffe2_source(names, options)};
      },
      nb::arg("paths"), nb::arg("images"), nb::arg("labels"), nb::arg("classes"), nb::arg("additional"),
      nb::arg("boxes"));
});

}  // namespace
}  // namespace avida::python
