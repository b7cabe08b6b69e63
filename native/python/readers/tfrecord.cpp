// readers.TFRecord: files, index files and features.
#include "readers/records/tfrecord.h"

#include <nanobind/stl/vector.h>

#include "python/readers/readers.h"

namespace avida::python {
namespace {

// (name, kind, fixed, shape, default)
TFFeature feature_of(nb::handle object) {
  auto fields = nb::cast<nb::tuple>(object);
  TFFeature feature;
  auto name = nb::cast<nb::bytes>(fields[0]);
  feature.name.assign(name.c_str(), name.size());
  feature.kind = static_cast<TFFeature::Kind>(nb::cast<int>(fields[1]));
  feature.fixed = nb::cast<bool>(fields[2]);
  feature.shape = Shape(nb::cast<std::vector<int64_t>>(fields[3]));
  switch (feature.kind) {
    case TFFeature::Kind::int64:
      feature.default_int = nb::cast<int64_t>(fields[4]);
      break;
    case TFFeature::Kind::float32:
      feature.default_float = nb::cast<float>(fields[4]);
      break;
    case TFFeature::Kind::string: {
      auto text = nb::cast<nb::bytes>(fields[4]);
      feature.default_string.assign(text.c_str(), text.size());
    }
  }
  return feature;
}

SourceHandle source_from_tfrecords(nb::list paths, nb::list index_paths, nb::list features, bool keep_damaged) {
  std::vector<std::string> files = paths_of(paths), indices = paths_of(index_paths);
  std::vector<TFFeature> outputs;
  for (nb::handle feature : features) outputs.push_back(feature_of(feature));
  WithoutGil released;
  return {tfrecord_source(std::move(files), indices, std::move(outputs), keep_damaged)};
}

const BindFormat tfrecord([](nb::module_& m) {
  m.def("source_from_tfrecords", &source_from_tfrecords, nb::arg("paths"), nb::arg("index_paths"), nb::arg("features"),
        nb::arg("keep_damaged"));
});

}  // namespace
}  // namespace avida::python
