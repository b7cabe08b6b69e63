// avida.from_arrow: tables of other libraries as Batches.
#include "python/arrow/table.h"

namespace avida::python {
namespace {

[[noreturn]] void refuse_twice(const char* name) {
  value_error("expected columns of different names, got two of the name '", name, "'");
}

// A Batch, or dictionaries of Batches by the names of columns and of the fields of structs.
nb::object from_arrow(nb::handle object) {
  const auto table = arrow::Table::of(object);
  std::vector<Data> columns;
  {
    WithoutGil released;
    for (size_t k = 0; k < table->types().size(); k++) columns.push_back(table->batch(k));
  }
  if (table->is_column()) return wrap(std::move(columns.at(0)), true);
  nb::dict batches;
  for (size_t k = 0; k < columns.size(); k++) {
    const arrow::ColumnType& type = table->types()[k];
    nb::dict at = batches;
    for (size_t i = 0; i + 1 < type.path.size(); i++) {
      const char* name = type.path[i].c_str();
      if (!at.contains(name)) at[name] = nb::dict();
      if (!nb::isinstance<nb::dict>(at[name])) refuse_twice(name);
      at = nb::cast<nb::dict>(at[name]);
    }
    const char* name = type.path.back().c_str();
    if (at.contains(name)) refuse_twice(name);
    at[name] = wrap(std::move(columns[k]), true);
  }
  return batches;
}

}  // namespace

void bind_arrow(nb::module_& m) { m.def("from_arrow", &from_arrow, nb::arg("data").none()); }

}  // namespace avida::python
