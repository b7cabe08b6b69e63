// The features that readers.TFRecord reads.
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

const ConvertArgument features("features", [](nb::handle list) -> std::any {
  std::vector<TFFeature> features;
  for (nb::handle feature : list) features.push_back(feature_of(feature));
  return features;
});

}  // namespace
}  // namespace avida::python
