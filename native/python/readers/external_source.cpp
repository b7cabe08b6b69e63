// ExternalSource: gives samples from Python code an origin, as samples of other readers have.
#include <nanobind/stl/string.h>

#include "python/readers/readers.h"

namespace avida::python {
namespace {

Origins numbered(const std::string& name, int n, int64_t first, int64_t epoch) {
  std::vector<Origin> origins(n);
  for (int i = 0; i < n; i++) {
    origins[i].source = str(name, '[', first + i, ']');
    origins[i].index = first + i;
    origins[i].epoch = epoch;
  }
  return std::make_shared<const std::vector<Origin>>(std::move(origins));
}

// The outputs of one item, as values whose samples are numbered from `first`. Samples of another reader keep their
// origin.
nb::object identify(nb::list outputs, const std::string& name, int64_t first, int64_t epoch) {
  std::vector<ValuePtr> values, made;
  Origins origins;
  for (nb::handle output : outputs) {
    const ValuePtr& value = *value_of(output);
    values.push_back(value);
    if (value->lineage) continue;
    Data data = get(*value);
    if (!origins || static_cast<int>(origins->size()) != data.size())
      origins = numbered(name, data.size(), first, epoch);
    data.origins = origins;
    values.back() = std::make_shared<Value>(std::move(data), value->meta().is_batch);
    made.push_back(values.back());
  }
  begin_lineage(made);
  nb::list out;
  for (auto& value : values) out.append(wrap(std::move(value)));
  return nb::tuple(out);
}

const BindFormat external_source([](nb::module_& m) {
  m.def("identify", &identify, nb::arg("outputs"), nb::arg("name"), nb::arg("first"), nb::arg("epoch"));
});

}  // namespace
}  // namespace avida::python
