// experimental.readers.Fits: images in FITS files.
#include "readers/fits/fits.h"

#include <nanobind/stl/vector.h>

#include "python/readers/readers.h"

namespace avida::python {
namespace {

const BindFormat fits([](nb::module_& m) {
  m.def(
      "fits_source",
      [](const FileListHandle& files, const std::vector<int>& hdus, const std::vector<int>& dtypes) {
        std::vector<DType> types;
        for (int dtype : dtypes) types.push_back(static_cast<DType>(dtype));
        WithoutGil released;
        return SourceHandle{fits_source(files.files, hdus, std::move(types))};
      },
      nb::arg("files"), nb::arg("hdus"), nb::arg("dtypes"));
});

}  // namespace
}  // namespace avida::python
