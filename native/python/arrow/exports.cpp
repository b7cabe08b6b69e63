// Batches for other libraries, as columns and tables of Arrow.
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <utility>

#include "gpu/gpu.h"
#include "python/arrow/outgoing.h"
#include "python/python.h"

namespace avida::python {
namespace {

using arrow::ArrowArray;
using arrow::ArrowArrayStream;
using arrow::ArrowSchema;
using arrow::Outgoing;

// A capsule over a struct, which releases what nobody has taken.
template <class T>
nb::object capsule(const char* name, T content) {
  auto owned = std::make_unique<T>(content);
  PyObject* made = PyCapsule_New(owned.get(), name, [](PyObject* self) {
    auto* held = static_cast<T*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
    if (held->release) held->release(held);
    delete held;
  });
  if (!made) {
    content.release(&content);
    throw nb::python_error();
  }
  owned.release();
  return nb::steal(made);
}

// A stream of one array.
struct OneArray {
  Outgoing type;
  ArrowArray array;

  explicit OneArray(Outgoing column) : type(std::move(column)), array(std::move(type).array()) {}
  OneArray(const OneArray&) = delete;
  ~OneArray() {
    if (array.release) array.release(&array);
  }
  static OneArray& in(ArrowArrayStream* stream) { return *static_cast<OneArray*>(stream->private_data); }
};

ArrowArrayStream stream_of(Outgoing column) {
  ArrowArrayStream stream{};
  stream.private_data = new OneArray(std::move(column));
  stream.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
    *out = OneArray::in(self).type.schema();
    return 0;
  };
  stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) {
    *out = std::exchange(OneArray::in(self).array, {});
    return 0;
  };
  stream.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  stream.release = [](ArrowArrayStream* self) {
    delete &OneArray::in(self);
    self->release = nullptr;
  };
  return stream;
}

// (name, Batch or list of fields, ragged, binary), as src/avida/_values/arrow.py makes it. Waits for the values.
Outgoing column_of(nb::tuple described, bool rows) {
  std::string name = nb::cast<std::string>(described[0]);
  if (!nb::isinstance<nb::list>(described[1])) {
    const Data& samples = get(*nb::cast<BatchBase&>(described[1]).value);
    for (const Block& block : samples.blocks()) Gpu::hand_over(block);
    const Outgoing::Wish wish{nb::cast<bool>(described[2]), nb::cast<bool>(described[3]), rows};
    WithoutGil released;
    return Outgoing::column(std::move(name), samples, wish);
  }
  std::vector<Outgoing> fields;
  std::optional<int64_t> length;
  for (nb::handle each : nb::cast<nb::list>(described[1])) {
    fields.push_back(column_of(nb::cast<nb::tuple>(each), rows));
    const int64_t found = fields.back().rows();
    if (length.value_or(found) != found)
      value_error("expected columns of one length, got ", *length, " samples, and ", found, " in '",
                  nb::cast<std::string>(each[0]), "'");
    length = found;
  }
  return Outgoing::of(std::move(name), std::move(fields), length.value_or(0));
}

}  // namespace

void bind_arrow_exports(nb::module_& m) {
  m.def(
      "arrow_schema", [](nb::tuple column) { return capsule("arrow_schema", column_of(column, false).schema()); },
      "The type of a column (name, Batch or list of fields, ragged, binary).");
  m.def("arrow_array", [](nb::tuple column) {
    Outgoing made = column_of(column, true);
    nb::object schema = capsule("arrow_schema", made.schema());
    return nb::make_tuple(schema, capsule("arrow_array", std::move(made).array()));
  });
  m.def("arrow_stream",
        [](nb::tuple column) { return capsule("arrow_array_stream", stream_of(column_of(column, true))); });
}

}  // namespace avida::python
